"""A pipeline over columns of Daft, where Daft is installed: mixed shapes, files, rows without an image, processes of their own."""

from pathlib import Path
from typing import Any

import mini_image_pipe as mip
import numpy as np
import pytest
from mini_image_pipe.daft import over_images

daft = pytest.importorskip("daft", reason="Daft is not installed: pip install daft")

LINE = "resize width=16 height=12 ! sobel"


def images(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(7)
    shapes = [(24, 32, 3), (24, 32, 3), (31, 17, 3), (24, 32)]
    return [random.integers(0, 256, shapes[index % len(shapes)], dtype=np.uint8) for index in range(count)]


def files(folder: Path, count: int) -> list[bytes]:
    for index, image in enumerate(images(count)):
        mip.save(image, folder / f"{index:02}.png")
    return [path.read_bytes() for path in sorted(folder.glob("*.png"))]


def same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("processes", [None, 2])
def test_images_of_mixed_shapes_keep_their_order(processes: int | None) -> None:
    given, pipe = images(37), mip.Pipeline(LINE)
    edges = over_images(LINE, max_batch=2, batch_size=8, max_concurrency=processes, use_process=processes is not None)
    frame = daft.from_pydict({"id": list(range(37)), "image": given})
    found = frame.with_column("edges", edges(daft.col("image"))).to_pydict()
    assert found["id"] == list(range(37))
    same(found["edges"], [pipe(image) for image in given])


def test_files_and_decoded_images_and_rows_without_one(tmp_path: Path) -> None:
    encoded: list[bytes | None] = [*files(tmp_path, 6)]
    encoded[2] = None
    pipe, flip = mip.Pipeline(LINE), over_images("flip")
    frame = daft.from_pydict({"file": encoded}).with_column("image", daft.col("file").decode_image(mode="RGB"))
    found = frame.select(over_images(LINE)(daft.col("file")).alias("edges"), flip(daft.col("image")).alias("turned")).to_pydict()
    assert found["edges"][2] is None and found["turned"][2] is None
    for index, (file, image) in enumerate(zip(encoded, images(6), strict=True)):
        if file is not None:
            np.testing.assert_array_equal(found["edges"][index], pipe(image))
            colours = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
            np.testing.assert_array_equal(found["turned"][index], colours[:, ::-1])


def test_types_and_shapes_are_said_beforehand() -> None:
    tensors = over_images(f"{LINE} ! cast to=f32", dtype="float32", shape=(12, 16))
    frame = daft.from_pydict({"image": images(3)})
    made = frame.select(tensors(daft.col("image")))
    assert made.schema()["image"].dtype == daft.DataType.tensor(daft.DataType.float32(), (12, 16))
    same(made.to_pydict()["image"], [mip.Pipeline(f"{LINE} ! cast to=f32")(image) for image in images(3)])
    with pytest.raises(Exception, match="gives images of float32, but dtype is 'uint8'"):
        frame.select(over_images(f"{LINE} ! cast to=f32")(daft.col("image"))).collect()


def test_a_pipeline_comes_from_a_file_or_is_copied(tmp_path: Path) -> None:
    pipe = mip.Pipeline(LINE)
    (tmp_path / "edges.toml").write_text(pipe.to_toml())
    frame = daft.from_pydict({"image": images(2)})
    for pipeline in (pipe, str(tmp_path / "edges.toml")):
        found = frame.select(over_images(pipeline)(daft.col("image"))).to_pydict()["image"]
        same(found, [pipe(image) for image in images(2)])


def test_what_is_wrong_is_said() -> None:
    frame = daft.from_pydict({"image": images(1), "file": [b"not a picture"]})
    for column, line, message in (("image", "sobell", "did you mean"), ("file", LINE, "can be read")):
        with pytest.raises(Exception, match=message):
            frame.select(over_images(line)(daft.col(column))).collect()
