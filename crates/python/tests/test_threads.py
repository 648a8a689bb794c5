"""Many threads at once over what they share, as they do where there is no GIL."""

import sys
import time

import mini_image_pipe as mip
import numpy as np
import pytest
from at_once import THREADS, at_once


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="this Python has a GIL, and says nothing of it")
def test_importing_the_package_leaves_the_gil_off():
    import sysconfig

    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python is built with the GIL")
    assert not sys._is_gil_enabled()


def test_one_pipeline_is_called_changed_and_copied_at_once(photo):
    pipe = mip.Pipeline("soft:gaussian_blur kernel=3 sigma=1 ! resize width=20", device="cpu")
    expected = {sigma: mip.Pipeline(f"gaussian_blur kernel=3 sigma={sigma} ! resize width=20", device="cpu")(photo) for sigma in (1, 2)}

    def work(number):
        for turn in range(30):
            result = pipe(photo)
            assert any(np.array_equal(result, image) for image in expected.values())
            if number == 0:
                pipe.soft.sigma = 1 + turn % 2
            elif number == 1:
                assert str(pipe.plan(photo)) and pipe.report is not None
            elif number == 2:
                twin = pipe | mip.ops.invert()
                assert any(np.array_equal(twin(photo), 255 - image) for image in expected.values())

    at_once(work)


def test_the_first_call_of_a_function_comes_from_all_threads(photo):
    results = [None] * THREADS

    def work(number):
        results[number] = mip.ops.brightness_contrast(photo, brightness=1.0625)

    at_once(work)
    assert all(np.array_equal(result, results[0]) for result in results)


def test_pipelines_of_their_own_run_side_by_side(photo):
    expected = mip.Pipeline("median kernel=5 ! sobel", device="cpu")(photo)

    def work(_):
        pipe = mip.Pipeline("median kernel=5 ! sobel", device="cpu", num_streams=2)
        for _ in range(10):
            assert np.array_equal(pipe(photo), expected)
            assert all(np.array_equal(result, expected) for result in pipe.run_batch([photo] * 3))
            assert all(np.array_equal(result, expected) for result in pipe.stream([photo] * 3))

    at_once(work)


def test_one_image_is_read_lent_and_dropped_at_once(photo):
    image = mip.Pipeline("flip", device="cpu")(mip.Image(photo))

    def work(_):
        for _ in range(100):
            assert np.array_equal(np.asarray(image), photo[:, ::-1])
            assert np.array_equal(np.from_dlpack(image), photo[:, ::-1])
            assert image == mip.Image(np.ascontiguousarray(photo[:, ::-1]))

    at_once(work)


def test_a_stream_is_for_one_thread_at_a_time(photo):
    stream = mip.Pipeline("flip", device="cpu").stream(photo for _ in range(200))
    seen, refused = [], []

    def work(_):
        while True:
            try:
                seen.append(next(stream).shape)
            except StopIteration:
                return
            except (RuntimeError, ValueError) as error:
                refused.append(str(error))
                time.sleep(0.001)

    at_once(work)
    assert len(seen) == 200 and all("another thread" in text for text in refused)


def test_errors_are_those_of_their_own_thread(photo):
    def work(number):
        for _ in range(30):
            with pytest.raises(mip.RequestError) as refused:
                mip.ops.erode(photo, kernel=100 + number)
            assert refused.value.given == str(100 + number) and refused.value.operator == "erode"

    at_once(work)
