"""JPEG files decoded on the GPU that a pipeline runs on: together, beside other files, in threads. Needs what `test_cuda.py` needs, and nvJPEG."""

import mini_image_pipe as mip
import numpy as np
import pytest
from test_cuda import TENSOR, gpu, on_cpu


def jpeg(array, **options):
    from io import BytesIO

    from PIL import Image as Picture

    file = BytesIO()
    Picture.fromarray(array).save(file, "JPEG", quality=92, **options)
    return file.getvalue()


def smooth(seed, height=90, width=120):
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 90 * np.sin((x + seed * 7) / (9 + c) + c) * np.cos(y / (11 + seed)) for c in range(3)]
    return np.stack(planes, -1).astype(np.uint8)


@pytest.fixture(scope="module")
def decoding():
    pytest.importorskip("PIL", reason="Pillow makes the files")
    pipe = gpu(TENSOR, max_batch_size=16)
    try:
        pipe.decode([])
    except mip.Error as error:
        pytest.skip(f"no nvJPEG: {error}")
    return pipe


def test_files_are_decoded_together_and_run_as_one(decoding):
    files = [jpeg(smooth(seed)) for seed in range(12)]
    images = decoding.decode(files)
    for image, file in zip(images, files):
        near = np.abs(image.numpy().astype(int) - mip.decode(file).astype(int))
        assert near.max() <= 3
    stack = decoding.run_batch(images, stack=True).numpy()
    assert stack.shape == (12, 3, 28, 28)
    expected = [on_cpu(TENSOR, image.numpy()) for image in images]
    assert all(np.array_equal(a, b) for a, b in zip(stack, expected))
    alone = [result.numpy() for result in decoding.run_batch(images)]
    assert all(np.array_equal(a, b) for a, b in zip(alone, expected))
    # Again, and beside others.
    again = decoding.decode(files)
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(images, again))


def test_other_files_take_their_places(decoding, tmp_path):
    (tmp_path / "b.png").write_bytes(_png(smooth(1, 50, 60)))
    (tmp_path / "a.jpg").write_bytes(jpeg(smooth(2)))
    progressive = jpeg(smooth(3), progressive=True)
    gray = jpeg(smooth(4)[..., 0])
    given = [str(tmp_path / "b.png"), tmp_path / "a.jpg", progressive, bytearray(gray)]
    images = decoding.decode(given)
    assert [image.numpy().shape for image in images] == [(50, 60, 3), (90, 120, 3), (90, 120, 3), (90, 120)]
    # What the GPU is not for is as the CPU decodes it.
    assert np.array_equal(images[0].numpy(), smooth(1, 50, 60))
    assert np.array_equal(images[2].numpy(), mip.decode(progressive))
    with pytest.raises(mip.Error, match="stack=True makes one result"):
        decoding.run_batch(images[:3], stack=True)


def _png(array):
    from io import BytesIO

    from PIL import Image as Picture

    file = BytesIO()
    Picture.fromarray(array).save(file, "PNG")
    return file.getvalue()


def test_what_cannot_be_decoded_is_named(decoding, tmp_path):
    whole = jpeg(smooth(0))
    with pytest.raises(mip.FileError, match="file 2 of 2"):
        decoding.decode([whole, b"no picture"])
    with pytest.raises(mip.FileError, match="nowhere.jpg"):
        decoding.decode([tmp_path / "nowhere.jpg"])
    assert decoding.decode([whole])[0].width == 120


def test_threads_decode_beside_each_other(decoding):
    from concurrent.futures import ThreadPoolExecutor

    sets = [[jpeg(smooth(16 * n + seed)) for seed in range(8)] for n in range(6)]
    expected = [[image.numpy() for image in decoding.decode(files)] for files in sets]

    def work(files):
        return decoding.run_batch(decoding.decode(files), stack=True), decoding.decode(files)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for (stack, images), pixels in zip(pool.map(work, sets), expected):
                assert all(np.array_equal(image.numpy(), own) for image, own in zip(images, pixels))
                assert np.array_equal(stack.numpy()[0], on_cpu(TENSOR, pixels[0]))
