"""The actor class by itself, and in Ray Data where Ray is installed: mixed shapes, read-only blocks, a worker that dies."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import mini_image_pipe as mip
from mini_image_pipe.ray import PipelineActor

LINE = "resize width=16 height=12 ! sobel"


def images(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(7)
    shapes = [(24, 32, 3), (24, 32, 3), (31, 17, 3), (24, 32)]
    return [random.integers(0, 256, shapes[index % len(shapes)], dtype=np.uint8) for index in range(count)]


def column(arrays: list[np.ndarray]) -> np.ndarray:
    mixed = np.empty(len(arrays), dtype=object)
    for index, array in enumerate(arrays):
        array.setflags(write=False)
        mixed[index] = array
    return mixed


def test_mixed_shapes_keep_their_order() -> None:
    given, pipe = images(11), mip.Pipeline(LINE)
    out = PipelineActor(LINE, output="edges", max_batch=2)({"image": column(given), "id": np.arange(11)})
    assert list(out["id"]) == list(range(11))
    assert out["edges"].shape == (11, 12, 16)
    for image, edges in zip(given, out["edges"], strict=True):
        np.testing.assert_array_equal(edges, pipe(image))


def test_results_of_mixed_shapes_are_an_array_of_arrays() -> None:
    given = images(4)
    out = PipelineActor("flip")({"image": column(given)})["image"]
    assert out.dtype == object
    assert [result.shape for result in out] == [image.shape for image in given]


def test_a_pipeline_comes_from_a_file_or_is_copied(tmp_path: Path) -> None:
    pipe, batch = mip.Pipeline(LINE), {"image": np.stack(images(2))}
    file = tmp_path / "edges.toml"
    file.write_text(pipe.to_toml())
    expected = PipelineActor(LINE)(batch)["image"]
    for pipeline in (str(file), pipe):
        np.testing.assert_array_equal(PipelineActor(pipeline)(batch)["image"], expected)


def test_encoded_files_are_decoded(tmp_path: Path) -> None:
    given, files = images(4), np.empty(4, dtype=object)
    for index, image in enumerate(given):
        mip.save(image, tmp_path / f"{index}.png")
        files[index] = (tmp_path / f"{index}.png").read_bytes()
    for image, edges in zip(given, PipelineActor(LINE)({"image": files})["image"], strict=True):
        np.testing.assert_array_equal(edges, mip.Pipeline(LINE)(image))


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(KeyError, match="no column 'image'.*columns: picture"):
        PipelineActor(LINE)({"picture": column(images(1))})
    with pytest.raises(mip.RequestError, match="did you mean"):
        PipelineActor("sobell")
    with pytest.raises(mip.RequestError):
        PipelineActor("blend inputs=@a,@b")({"image": column(images(1))})
    assert PipelineActor(LINE)({"image": column([])})["image"].shape == (0,)


class Mortal(PipelineActor):
    """Dies once, in the middle."""

    def __init__(self, mark: str) -> None:
        super().__init__(LINE, output="edges")
        self._mark, self._calls = mark, 0

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        self._calls += 1
        if self._calls == 3 and not os.path.exists(self._mark):
            Path(self._mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(batch)


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    # Workers import this file by its name.
    own = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
    ray.init(
        num_cpus=2, num_gpus=2, object_store_memory=200_000_000, include_dashboard=False, runtime_env=own
    )
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("dies", [False, True])
def test_ray_gives_what_a_local_run_gives(ray, tmp_path: Path, dies: bool) -> None:
    given, pipe = images(64), mip.Pipeline(LINE)
    rows = [{"id": index, "image": image} for index, image in enumerate(given)]
    mark = tmp_path / "died"
    if not dies:
        mark.touch()
    edges = ray.data.from_items(rows, override_num_blocks=8).map_batches(
        Mortal,
        fn_constructor_args=(str(mark),),
        batch_size=4,
        num_gpus=1,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    edges.select_columns(["id", "edges"]).write_parquet(str(tmp_path / "edges"))
    assert mark.exists()
    found = {row["id"]: row["edges"] for row in ray.data.read_parquet(str(tmp_path / "edges")).take_all()}
    assert sorted(found) == list(range(64))
    for index, image in enumerate(given):
        np.testing.assert_array_equal(found[index], pipe(image))
