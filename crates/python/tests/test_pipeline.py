"""Pipelines: text, files and graphs; parameters, batches, streams, plans and reports; copies, threads and processes."""

import copy
import json
import multiprocessing
import os
import pickle
import threading
import time

import mini_image_pipe as mip
import numpy as np
import pytest

FILE = """
[[task]]
name = "soft"
op = "gaussian_blur"
kernel = 5

[[task]]
op = "sobel"
"""


def test_text_file_and_graph_are_the_same(photo, tmp_path):
    (tmp_path / "edges.toml").write_text(FILE)
    expected = mip.Pipeline("gaussian_blur kernel=5 ! sobel")(photo)
    built = mip.Pipeline().add("soft", "gaussian_blur", kernel=5).add("edges", "sobel")
    chained = mip.ops.gaussian_blur(kernel=5) | mip.ops.sobel()
    for pipe in [mip.Pipeline(FILE), mip.Pipeline.load(tmp_path / "edges.toml"), built, chained]:
        assert np.array_equal(pipe(photo), expected)
    assert mip.Pipeline.load(tmp_path / "edges.toml", device="cpu").tasks == ["soft", "sobel"]
    with pytest.raises(mip.FileError, match="cannot read"):
        mip.Pipeline.load(tmp_path / "none.toml")


def test_several_inputs_and_outputs(photo):
    pipe = mip.Pipeline("inputs=left,right ! absdiff inputs=@left,@right ! mask:threshold threshold=9 ! sobel inputs=absdiff")
    assert (pipe.inputs, pipe.outputs, pipe.tasks) == (["left", "right"], ["mask", "sobel"], ["absdiff", "mask", "sobel"])
    other = photo[::-1].copy()
    results = pipe(photo, right=other)
    assert list(results) == ["mask", "sobel"]
    distance = np.maximum(photo, other) - np.minimum(photo, other)
    assert np.array_equal(results["mask"], np.where(distance > 9, 255, 0))
    assert np.array_equal(pipe(left=photo, right=other)["mask"], results["mask"])
    with pytest.raises(mip.RequestError, match="3 images given, but this pipeline takes 2"):
        pipe(photo, other, photo)
    with pytest.raises(mip.RequestError, match="no image was given for pipeline input '@right'"):
        pipe(photo)
    with pytest.raises(mip.RequestError, match="inputs: @left, @right"):
        pipe(photo, rihgt=other)


def test_graphs_fork_and_join(photo):
    graph = mip.Pipeline(inputs=["a"], outputs=["mix", "gray"])
    graph.add("gray", "color_convert", to="gray").add("soft", "gaussian_blur", kernel=7)
    graph.add("edges", "sobel", inputs=["gray"]).add("mix", "blend", inputs=["soft", "edges"], alpha=0.25)
    line = "inputs=a outputs=mix,gray ! gray:color_convert to=gray ! soft:gaussian_blur kernel=7 ! edges:sobel inputs=gray ! "
    text = mip.Pipeline(line + "mix:blend inputs=soft,edges alpha=0.25")
    for name, result in graph(photo).items():
        assert np.array_equal(result, text(photo)[name])


def test_chains_rename_what_is_taken_and_refuse_what_does_not_fit(photo):
    blur = mip.ops.gaussian_blur(kernel=3)
    twice = blur | blur | mip.Pipeline("edges:sobel ! invert")
    assert twice.tasks == ["gaussian_blur", "gaussian_blur2", "edges", "invert"]
    step = blur(blur(photo))
    assert np.array_equal(twice(photo), mip.Pipeline("sobel ! invert")(step))
    with pytest.raises(mip.RequestError, match="pipelines chain where"):
        blur | mip.ops.blend()


def test_parameters_are_attributes_and_items(photo):
    pipe = mip.Pipeline("soft:gaussian_blur kernel=5 ! mean:normalize mean=0.5 std=0.25")
    assert (pipe.soft.kernel, pipe["soft.kernel"], pipe.soft.sigma) == (5, 5, None)
    pipe.soft.sigma = 1.4
    pipe["mean.mean"] = [0.1, 0.2, 0.3]
    pipe.soft.kernel = np.int64(7)
    assert (pipe["soft.sigma"], pipe.mean.mean, pipe.soft.kernel) == (1.4, [0.1, 0.2, 0.3], 7)
    line = "soft:gaussian_blur kernel=7 sigma=1.4 ! mean:normalize mean=[0.1,0.2,0.3] std=0.25"
    assert np.array_equal(pipe(photo), mip.Pipeline(line)(photo))
    assert mip.Pipeline(str(pipe))["mean.mean"] == [0.1, 0.2, 0.3]
    assert "soft" in dir(pipe) and "sigma" in dir(pipe.soft)
    with pytest.raises(mip.RequestError, match="must be an odd whole number"):
        pipe.soft.kernel = 4
    assert pipe.soft.kernel == 7
    with pytest.raises(mip.RequestError, match="did you mean 'sigma'"):
        pipe.soft.sigam = 1.0
    with pytest.raises(AttributeError, match="no attribute or task 'sfot'"):
        _ = pipe.sfot
    with pytest.raises(TypeError, match="no value of a parameter"):
        pipe.soft.sigma = object()


def test_batches_and_streams_give_what_calls_give(photo):
    frames = [np.roll(photo, shift, axis=1) for shift in range(11)]
    pipe = mip.Pipeline("gaussian_blur sigma=2 ! sobel")
    expected = [pipe(frame) for frame in frames]
    assert all(map(np.array_equal, pipe.run_batch(frames), expected))
    assert pipe.report["frames"] == 11
    assert all(map(np.array_equal, pipe.run_batch(np.stack(frames)), expected))
    assert all(map(np.array_equal, pipe.stream(iter(frames)), expected))
    assert (pipe.run_batch([]), list(pipe.stream([]))) == ([], [])
    stack = pipe.run_batch(frames, stack=True)
    assert np.array_equal(stack, expected) and stack.shape == (11, *photo.shape[:2])
    with pytest.raises(mip.RequestError, match="frame 1 of the batch is 64x40"):
        pipe.run_batch([photo, photo[:40]])


def test_streams_take_frames_as_results_are_asked_for(photo):
    taken = []

    def camera():
        for number in range(20):
            taken.append(number)
            yield photo

    results = mip.Pipeline("sobel").stream(camera(), frames_in_flight=2)
    assert taken == []
    next(results)
    assert len(taken) == 3
    assert len(list(results)) == 19
    with pytest.raises(mip.RequestError, match="frames_in_flight"):
        mip.Pipeline("sobel").stream([], frames_in_flight=0)


def test_a_frame_that_fails_is_an_error_in_its_place(photo):
    results = mip.Pipeline("crop x=0 y=0 width=40 height=40").stream([photo, photo[:8], photo])
    assert next(results).shape == (40, 40, 3)
    with pytest.raises(mip.RequestError, match="frame 1: task 'crop'") as error:
        next(results)
    assert (error.value.task, error.value.operator) == ("crop", "crop")
    assert next(results).shape == (40, 40, 3)
    assert list(results) == []


def test_an_error_of_the_source_comes_through(photo):
    def camera():
        yield photo
        raise OSError("the cable is out")

    with pytest.raises(OSError, match="the cable is out"):
        list(mip.Pipeline("sobel").stream(camera()))


def test_plans_are_text_json_and_pictures(photo):
    plan = mip.Pipeline("resize width=32 ! sobel").plan(photo)
    assert "resize" in str(plan) and "sobel" in str(plan)
    assert (plan.launches, plan.streams) == (1, 1)
    assert json.loads(plan.to_json())["streams"] == 1
    for drawing in [plan._repr_svg_(), plan.memory_svg()]:
        assert drawing.lstrip().startswith("<svg")
    assert "<svg" in plan._repr_html_()
    assert plan.to_dot().startswith("digraph") and "graph" in plan.to_mermaid()
    shape = mip.Pipeline("sobel").plan((1080, 1920, 3), batch=4, dtype="float32")
    assert "1920x1080 rgb f32" in str(shape)
    assert mip.Pipeline("sobel ! sobel", fuse=False).plan(photo).launches == 2


def test_reports_say_what_a_run_did(photo):
    pipe = mip.Pipeline("soft:gaussian_blur ! sobel", device="cpu", graph_replay=True)
    assert pipe.report is None
    for _ in range(3):
        pipe(photo)
    report = pipe.report
    assert [(task["name"], task["op"], task["state"]) for task in report["tasks"]] == [
        ("soft", "gaussian_blur", "completed"),
        ("sobel", "sobel", "completed"),
    ]
    assert report["graph"]["captures"] == 1 and report["elapsed_ms"] > 0


def test_every_setting_gives_the_same_bytes(photo):
    line = "resize width=40 ! color_convert to=gray ! gaussian_blur kernel=5 ! sobel"
    expected = mip.Pipeline(line, device="cpu")(photo)
    for settings in [{"fuse": False}, {"graph_replay": True}, {"stream_ordered": True}, {"num_streams": 1}]:
        pipe = mip.Pipeline(line, device="cpu", **settings)
        assert all(np.array_equal(pipe(photo), expected) for _ in range(3))
    with pytest.raises(mip.OutOfMemoryError, match="the limit is 1000"):
        mip.Pipeline(line, memory_limit=1000)(photo)
    with pytest.raises(mip.RequestError, match="`device` is gpu, but must be auto, cpu, cuda or cuda:N"):
        mip.Pipeline(line, device="gpu")


def test_the_number_of_threads_changes_nothing(photo):
    expected = mip.Pipeline("resize width=20 ! sobel", device="cpu")(photo)
    for threads in (1, 3):
        pipe = mip.Pipeline("resize width=20 ! sobel", device="cpu", threads=threads)
        assert np.array_equal(pipe(photo), expected)
        assert np.array_equal(pickle.loads(pickle.dumps(pipe))(photo), expected)
    with pytest.raises(mip.RequestError, match="threads is 0"):
        mip.Pipeline("sobel", threads=0)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_are_the_same_and_go_their_own_ways(photo, again):
    pipe = mip.Pipeline("soft:gaussian_blur kernel=5 ! sobel", max_batch_size=3)
    pipe.soft.sigma = 2.5
    twin = again(pipe)
    assert np.array_equal(twin(photo), pipe(photo)) and str(twin) == str(pipe)
    twin.soft.sigma = 0.5
    assert pipe.soft.sigma == 2.5
    image = again(mip.Image(photo, format="bgr"))
    assert (image.format, np.array_equal(image, photo)) == ("bgr", True)


def test_one_pipeline_serves_many_threads(photo):
    pipe = mip.Pipeline("resize width=32 ! sobel")
    expected = pipe(photo)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(pipe(photo), expected):
                wrong.append(1)
            pipe["resize.width"]

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_python_runs_while_a_pipeline_does():
    large = np.zeros((3000, 4000, 3), np.uint8)
    pipe = mip.Pipeline("gaussian_blur kernel=31 sigma=9 ! gaussian_blur kernel=31 sigma=9")
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    pipe(large)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 5


def shape(pipe, photo):
    return pipe(photo).shape


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pipelines_go_to_other_processes(photo, method):
    pipe = mip.Pipeline("resize width=32 ! sobel")
    pipe(photo)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(shape, (pipe, photo)) == (24, 32)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_pipeline_that_ran_runs_after_a_fork(photo):
    pipe = mip.Pipeline("resize width=32 ! sobel")
    expected = pipe(photo)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(pipe(photo), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
