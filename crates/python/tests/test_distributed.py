"""Which device and which part a process takes, by what its launcher says."""

import pytest

import mini_image_pipe as mip
from mini_image_pipe.distributed import local_device, rank, shard


def gpus() -> int:
    return sum(device["available"] for device in mip.devices() if device["device"].startswith("cuda"))


def test_without_a_launcher_it_is_one_process() -> None:
    assert (local_device({}), rank({}), list(shard(range(5), {}))) == ("auto", (0, 1), [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    "names", [("LOCAL_RANK", "RANK", "WORLD_SIZE"), ("SLURM_LOCALID", "SLURM_PROCID", "SLURM_NTASKS")]
)
def test_each_process_has_its_own(names: tuple[str, str, str]) -> None:
    parts = []
    for number in range(3):
        environment = dict(zip(names, (str(number), str(number), "3"), strict=True))
        expected = f"cuda:{number % gpus()}" if gpus() else "cpu"
        assert local_device(environment) == expected
        assert rank(environment) == (number, 3)
        parts.extend(shard(list("abcdefgh"), environment))
    assert sorted(parts) == list("abcdefgh")


def test_what_no_launcher_says_is_refused() -> None:
    with pytest.raises(ValueError, match="LOCAL_RANK is 'one'"):
        local_device({"LOCAL_RANK": "one"})
    with pytest.raises(ValueError, match="number 3 of 3"):
        rank({"RANK": "3", "WORLD_SIZE": "3"})


def test_several_devices_are_a_list() -> None:
    import numpy as np

    frames = [np.full((12, 16, 3), value, dtype=np.uint8) for value in range(20)]
    pipe = mip.Pipeline("resize width=8 ! sobel", device="all", max_batch_size=4)
    expected = mip.Pipeline("resize width=8 ! sobel", device="cpu").run_batch(frames)
    np.testing.assert_array_equal(pipe.run_batch(frames), expected)
    np.testing.assert_array_equal(list(pipe.stream(frames)), expected)
    # On one device there is nothing to share out.
    assert pipe.report is not None and (sum(device["frames"] for device in pipe.report["devices"]) >= 20 or not gpus())
    with pytest.raises(mip.RequestError, match="each stands once"):
        mip.Pipeline("sobel", device="cpu,cpu")
    with pytest.raises(mip.DeviceError):
        mip.Pipeline("sobel", device="cpu,cuda:4000")
