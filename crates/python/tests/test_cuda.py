"""Tensors of PyTorch and CuPy on a GPU: read where they lie, in the order of streams, with the bytes that the CPU gives.

Needs a GPU that `mip.devices()` finds usable, and PyTorch or CuPy for it; says so where one is missing. MIP_REQUIRE_GPU=1 makes that an error.
"""

import gc
import os
import threading
import time

import mini_image_pipe as mip
import numpy as np
import pytest


def missing():
    """Why nothing here can run."""
    device = next(entry for entry in mip.devices() if entry["device"].startswith("cuda"))
    if not device["available"]:
        return f"no GPU that pipelines run on: {device['reason']}"
    if torch is None and cupy is None:
        return "neither PyTorch nor CuPy finds a GPU"
    return None


def usable(name, count):
    try:
        module = __import__(name)
        return module if count(module) else None
    except Exception:  # noqa: BLE001: without a driver CuPy raises errors of its own
        return None


torch = usable("torch", lambda torch: torch.cuda.is_available())
cupy = usable("cupy", lambda cupy: cupy.cuda.runtime.getDeviceCount())
MISSING = missing()
if MISSING and os.environ.get("MIP_REQUIRE_GPU"):
    raise RuntimeError(MISSING)
if MISSING:
    pytest.skip(MISSING, allow_module_level=True)

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch finds no GPU, or is not installed")
needs_cupy = pytest.mark.skipif(cupy is None, reason="CuPy finds no GPU, or is not installed")

LINE = "resize width=40 ! gaussian_blur kernel=5 ! sobel"
TENSOR = "resize shorter_side=32 ! crop width=28 height=28 center=true ! normalize mean=[0.485, 0.456, 0.406] std=[0.229, 0.224, 0.225] ! layout to=chw"
MODES = pytest.mark.parametrize("mode", [{}, {"graph_replay": True}, {"stream_ordered": True}, {"graph_replay": True, "stream_ordered": True}], ids=["plain", "replay", "ordered", "both"])

# About half a second of an H200: long beside any call, short enough for many tests.
LONG = 800_000_000


def gpu(line, **settings):
    return mip.Pipeline(line, device="cuda", **settings)


def on_cpu(line, array, **meaning):
    return np.asarray(mip.Pipeline(line, device="cpu")(array, **meaning))


def noise(shape, dtype=np.uint8, seed=1):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.random(shape).astype(dtype)
    return random.integers(0, 200, shape).astype(dtype)


def same(ours, theirs):
    ours = ours.numpy() if isinstance(ours, mip.DeviceImage) else ours
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert ours.tobytes() == theirs.tobytes()


@needs_torch
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float16", "float32"])
@pytest.mark.parametrize(("shape", "layout"), [((48, 64), "hwc"), ((48, 64, 3), "hwc"), ((3, 48, 64), "chw"), ((48, 64, 4), "hwc")])
def test_bytes_are_the_cpus(shape, layout, dtype):
    array = noise(shape, dtype)
    result = gpu("flip ! resize width=40")(torch.from_numpy(array).cuda(), layout=layout)
    assert isinstance(result, mip.DeviceImage) and result.device == f"cuda:{torch.cuda.current_device()}"
    expected = on_cpu("flip ! resize width=40", array, layout=layout)
    same(result, expected)
    tensor = result.torch()
    assert tensor.is_cuda and tuple(tensor.shape) == expected.shape == result.shape
    same(tensor.cpu().numpy(), expected)
    assert result.dtype == dtype and result.layout == layout


@needs_torch
@MODES
def test_every_way_to_run_gives_the_same(mode):
    array = noise((90, 120, 3))
    pipe, tensor = gpu(TENSOR, **mode), torch.from_numpy(array).cuda()
    expected = on_cpu(TENSOR, array)
    for _ in range(20):
        same(pipe(tensor).torch().cpu().numpy(), expected)
    several = [pipe(tensor) for _ in range(10)]
    for result in several:
        same(result, expected)


@needs_torch
@pytest.mark.parametrize("count", [1, 3, 8, 21])
def test_batches_are_one_tensor_with_an_axis_more(count):
    arrays = noise((count, 40, 50, 3))
    pipe = gpu(TENSOR, max_batch_size=8)
    expected = [on_cpu(TENSOR, array) for array in arrays]
    batched = torch.from_numpy(arrays).cuda()
    for results in (pipe.run_batch(batched), pipe.run_batch(list(batched)), pipe.run_batch(iter(batched))):
        assert len(results) == count
        for result, wanted in zip(results, expected):
            same(result.torch().cpu().numpy(), wanted)
    if count > 8:
        with pytest.raises(mip.RequestError, match="max_batch_size=21\\) takes them at once"):
            pipe.run_batch(batched, stack=True)
    else:
        stack = pipe.run_batch(batched, stack=True)
        assert stack.shape == (count, *expected[0].shape) and stack.nbytes == count * expected[0].nbytes
        assert np.array_equal(stack.torch().cpu().numpy(), expected) and np.array_equal(stack.numpy(), expected)
        further = gpu("flip")(stack)
        assert np.array_equal(further.numpy(), [on_cpu("flip", array, layout="chw") for array in expected])
        with pytest.raises(TypeError, match="a stack of images is no image"):
            stack.cpu()
    with pytest.raises(mip.RequestError, match="stack=True makes one result of one tensor"):
        pipe.run_batch(list(batched), stack=True)
    planar = torch.from_numpy(np.ascontiguousarray(arrays.transpose(0, 3, 1, 2))).cuda()
    for result, array in zip(gpu("invert").run_batch(planar, layout="chw"), arrays):
        same(result, 255 - array.transpose(2, 0, 1))
    gray = torch.from_numpy(noise((count, 30, 40))).cuda()
    assert [result.shape for result in gpu("invert").run_batch(gray)] == [(30, 40)] * count


@needs_torch
def test_a_call_does_not_wait_and_comes_in_its_turn():
    array = noise((48, 64, 3))
    pipe, expected = gpu(LINE), on_cpu(LINE, array)
    source = torch.from_numpy(array).cuda()
    tensor = torch.zeros_like(source)
    for _ in range(5):
        pipe(tensor).torch()
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            tensor.zero_()
            torch.cuda.synchronize()
            torch.cuda._sleep(LONG)
            tensor.copy_(source)
            start = time.perf_counter()
            result = pipe(tensor)
            taken = result.torch()
            took = time.perf_counter() - start
            busy = not stream.query()
            assert busy and not result.is_done, "the stream was still asleep when the call came back"
            assert took < 0.1, f"{took} s"
            # Behind the call in the stream's order, so the result does not have it.
            tensor.zero_()
            copied = taken.clone()
        stream.synchronize()
        same(copied.cpu().numpy(), expected)
        result.wait()
        assert result.is_done


@needs_torch
def test_a_call_causes_no_synchronisation_that_torch_can_see():
    tensor = torch.from_numpy(noise((48, 64, 3))).cuda()
    pipe = gpu(LINE)
    pipe(tensor).torch()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(10):
            pipe(tensor).torch().add_(1)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@needs_torch
def test_results_may_be_read_on_other_streams():
    array = noise((48, 64, 3))
    pipe, expected = gpu(LINE), on_cpu(LINE, array)
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    source, tensor = torch.from_numpy(array).cuda(), torch.zeros((48, 64, 3), dtype=torch.uint8, device="cuda")
    pipe(tensor).wait()
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        torch.cuda._sleep(LONG // 4)
        tensor.copy_(source)
        result = pipe(tensor)
    with torch.cuda.stream(b):
        copied = result.torch().clone()
    b.synchronize()
    same(copied.cpu().numpy(), expected)


@needs_torch
def test_inputs_may_go_right_after_the_call():
    pipe, torch_stream = gpu("invert"), torch.cuda.current_stream()
    for seed in range(20):
        array = noise((256, 256, 3), seed=seed)
        tensor = torch.from_numpy(array).cuda()
        pipe(tensor).wait()
        torch.cuda._sleep(LONG // 50)
        result = pipe(tensor)
        del tensor
        # What torch would give that memory to.
        others = [torch.full((256, 256, 3), 7, dtype=torch.uint8, device="cuda") for _ in range(4)]
        same(result.torch().cpu().numpy(), 255 - array)
        del others
    torch_stream.synchronize()


@needs_torch
def test_memory_is_not_used_again_before_the_consumer_has_read_it():
    pipe = gpu("invert")
    arrays = [noise((256, 256, 3), seed=seed) for seed in range(12)]
    tensors = [torch.from_numpy(array).cuda() for array in arrays]
    pipe(tensors[0]).wait()
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    copies = []
    for tensor in tensors:
        with torch.cuda.stream(stream):
            result = pipe(tensor).torch()
            torch.cuda._sleep(LONG // 40)
            copies.append(result.clone())
            del result
        # On another stream, which waits for nothing of that one.
        pipe(tensors[0])
    stream.synchronize()
    for copied, array in zip(copies, arrays):
        same(copied.cpu().numpy(), 255 - array)


@needs_torch
def test_results_outlive_their_pipeline_and_their_input():
    array = noise((64, 64, 3))
    pipe = gpu(LINE)
    pipe(torch.from_numpy(array).cuda()).wait()
    torch.cuda._sleep(LONG // 8)
    result = pipe(torch.from_numpy(array).cuda())
    taken = gpu("invert")(result).torch()
    start = time.perf_counter()
    del pipe
    gc.collect()
    assert time.perf_counter() - start < 5
    same(result, on_cpu(LINE, array))
    del result
    gc.collect()
    same(taken.cpu().numpy(), 255 - on_cpu(LINE, array))


@needs_torch
def test_pipelines_follow_each_other_on_the_gpu():
    array = noise((64, 80, 3))
    tensor = torch.from_numpy(array).cuda()
    first, second = gpu("resize width=40"), gpu("gaussian_blur kernel=5 ! sobel")
    result = second(first(tensor))
    same(result, on_cpu("resize width=40 ! gaussian_blur kernel=5 ! sobel", array))
    fork = gpu("a:invert inputs=@input ! b:flip inputs=@input")
    both = fork(tensor)
    assert sorted(both) == ["a", "b"]
    same(both["a"], 255 - array)
    same(both["b"], array[:, ::-1])
    pair = mip.Pipeline(inputs=["x", "y"], device="cuda").add("d", "absdiff", inputs=["@x", "@y"])
    assert not pair(x=tensor, y=tensor).numpy().any()
    assert not pair(tensor, tensor).numpy().any()


@needs_torch
def test_regions_are_read_where_they_lie_and_other_strides_are_refused():
    array = noise((64, 80, 3))
    tensor = torch.from_numpy(array).cuda()
    same(gpu("invert")(tensor[10:50, 20:60]), 255 - array[10:50, 20:60])
    planar = torch.from_numpy(noise((3, 64, 80))).cuda()
    same(gpu("invert")(planar[:, 8:40, 16:48], layout="chw"), 255 - planar.cpu().numpy()[:, 8:40, 16:48])
    # A planar view of interleaved pixels, and back.
    same(gpu("invert")(planar.contiguous(memory_format=torch.contiguous_format).permute(1, 2, 0).contiguous()), 255 - planar.cpu().numpy().transpose(1, 2, 0))
    for wrong, layout in [(tensor[:, ::2], "hwc"), (tensor.flip(0).permute(1, 0, 2), "hwc"), (tensor.permute(2, 0, 1), "chw"), (tensor[0:1].expand(8, 80, 3), "hwc")]:
        with pytest.raises(mip.RequestError, match=r"tensor.contiguous\(\)"):
            gpu("invert")(wrong, layout=layout)
    last = torch.from_numpy(noise((2, 3, 8, 8))).cuda().contiguous(memory_format=torch.channels_last)
    same(gpu("invert").run_batch(last.permute(0, 2, 3, 1))[1], 255 - last[1].permute(1, 2, 0).cpu().numpy())


@needs_torch
def test_what_is_no_image_is_refused_and_nothing_is_held():
    pipe = gpu("invert")
    with pytest.raises(mip.RequestError, match="none of uint8"):
        pipe(torch.zeros((4, 4), dtype=torch.float64, device="cuda"))
    with pytest.raises(mip.RequestError, match="channels"):
        pipe(torch.zeros((4, 4, 7), dtype=torch.uint8, device="cuda"))
    with pytest.raises((BufferError, RuntimeError)):
        pipe(torch.zeros((4, 4), device="cuda", requires_grad=True))
    with pytest.raises(mip.RequestError, match="the pipeline runs on the CPU"):
        mip.Pipeline("invert", device="cpu")(torch.zeros((4, 4), dtype=torch.uint8, device="cuda"))
    with pytest.raises(mip.RequestError, match="lie together"):
        mip.Pipeline(inputs=["x", "y"], device="cuda").add("d", "absdiff", inputs=["@x", "@y"])(
            np.zeros((4, 4), np.uint8), torch.zeros((4, 4), dtype=torch.uint8, device="cuda")
        )
    with pytest.raises(mip.RequestError, match="2 images given"):
        pipe(torch.zeros((4, 4), dtype=torch.uint8, device="cuda"), torch.zeros((4, 4), dtype=torch.uint8, device="cuda"))
    with pytest.raises(mip.RequestError):
        gpu("crop width=100 height=100")(torch.zeros((4, 4), dtype=torch.uint8, device="cuda"))
    # Tensors of the CPU go as they did.
    assert gpu("invert")(torch.zeros((4, 4), dtype=torch.uint8)).min() == 255


@needs_torch
def test_the_capsule_says_what_it_can_and_refuses_what_it_cannot():
    array = noise((16, 16, 3))
    image = gpu("invert")(torch.from_numpy(array).cuda())
    index = torch.cuda.current_device()
    assert image.__dlpack_device__() == (2, index)
    for options in ({}, {"stream": -1}, {"stream": 1}, {"stream": 2}, {"stream": None}, {"dl_device": (2, index)}, {"copy": False}, {"max_version": (1, 0)}):
        assert "dltensor" in repr(image.__dlpack__(**options))
    with pytest.raises(BufferError, match="stream is 0"):
        image.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="stream is -2"):
        image.__dlpack__(stream=-2)
    with pytest.raises(BufferError, match="this image is on"):
        image.__dlpack__(dl_device=(2, index + 1))
    with pytest.raises(BufferError, match="not copied on the GPU"):
        image.__dlpack__(copy=True)
    same(np.from_dlpack(image, device="cpu"), 255 - array)
    with pytest.raises(TypeError, match=r"image.numpy\(\)"):
        np.asarray(image)
    assert image.cpu().shape == (16, 16, 3) and "DeviceImage" in repr(image)
    capsule = image.__dlpack__(stream=1)
    torch.utils.dlpack.from_dlpack(capsule)
    with pytest.raises((RuntimeError, ValueError)):
        torch.utils.dlpack.from_dlpack(capsule)
    # Writable, and the same memory each time.
    image.torch().fill_(3)
    assert (image.torch() == 3).all() and (image.numpy() == 3).all()
    with pytest.raises(mip.RequestError, match=r"image.cpu\(\)"):
        mip.save(image, "never.png")


@needs_torch
@MODES
def test_memory_stays_flat(mode):
    pipe, tensor = gpu(LINE, **mode), torch.from_numpy(noise((480, 640, 3))).cuda()

    def use():
        for _ in range(400):
            kept = pipe(tensor).torch()
            pipe(tensor).__dlpack__(stream=1)
            pipe(tensor)
            pipe.run_batch(tensor[None].expand(1, -1, -1, -1))
        del kept
        torch.cuda.synchronize()

    use()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(3):
        use()
    assert before - torch.cuda.mem_get_info()[0] < 16 << 20


@needs_torch
def test_a_host_that_runs_ahead_is_held_at_some_point_and_nothing_is_lost():
    array = noise((32, 32, 3))
    pipe, tensor = gpu(LINE), torch.from_numpy(array).cuda()
    pipe(tensor).wait()
    torch.cuda._sleep(LONG // 10)
    results = [pipe(tensor) for _ in range(100)]
    expected = on_cpu(LINE, array)
    for result in results:
        same(result, expected)


@needs_torch
def test_threads_with_streams_of_their_own_share_a_pipeline():
    pipe = gpu(LINE)
    failures = []

    def work(seed):
        try:
            array = noise((48, 64, 3), seed=seed)
            expected = on_cpu(LINE, array)
            with torch.cuda.stream(torch.cuda.Stream()):
                tensor = torch.from_numpy(array).cuda()
                for _ in range(50):
                    same(pipe(tensor).torch().cpu().numpy(), expected)
        except BaseException as error:  # noqa: BLE001: told below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures, failures


@needs_torch
def test_what_torch_calls_the_current_device_stays():
    tensor = torch.from_numpy(noise((16, 16))).cuda()
    before = torch.cuda.current_device()
    gpu("invert")(tensor)
    assert torch.cuda.current_device() == before
    if torch.cuda.device_count() > 1:
        other = mip.Pipeline("invert", device="cuda:1")
        assert other(tensor.to("cuda:1")).device == "cuda:1"
        assert torch.cuda.current_device() == before and torch.zeros(1, device="cuda").device.index == before
        with pytest.raises(mip.RequestError, match="lies on cuda:0, but the pipeline runs on cuda:1"):
            other(tensor)


class OnlyInterface:
    """What has nothing but `__cuda_array_interface__`."""

    def __init__(self, array, **parts):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **parts}


@needs_cupy
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float16", "float32"])
def test_arrays_of_cupy_go_in_and_out(dtype):
    array = noise((48, 64, 3), dtype)
    expected = on_cpu("flip ! resize width=40", array)
    own = cupy.asarray(array)
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream()):
        with stream:
            result = gpu("flip ! resize width=40")(own)
            same(cupy.asnumpy(result.cupy()), expected)
            same(cupy.asnumpy(cupy.from_dlpack(result)), expected)
            same(cupy.asnumpy(cupy.asarray(result)), expected)
    same(gpu("flip ! resize width=40")(OnlyInterface(own)), expected)
    same(gpu("flip ! resize width=40")(OnlyInterface(own, stream=None)), expected)
    same(gpu("invert").run_batch(cupy.asarray(noise((5, 8, 8))))[4], 255 - noise((5, 8, 8))[4])


@needs_cupy
def test_streams_of_cupy_may_go_before_what_they_read():
    array = noise((64, 64, 3))
    pipe, own = gpu("invert"), cupy.asarray(array)
    for _ in range(20):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            kept = pipe(own).cupy()
            copied = kept.copy()
        stream.synchronize()
        del stream
        gc.collect()
        del kept
        same(cupy.asnumpy(copied), 255 - array)


@needs_cupy
def test_an_interface_that_points_elsewhere_is_refused():
    host = np.zeros((4, 4), np.uint8)
    own = cupy.zeros((4, 4), np.uint8)
    with pytest.raises(mip.RequestError, match="no memory of a GPU"):
        gpu("invert")(OnlyInterface(own, data=(host.ctypes.data, False)))


@needs_torch
@needs_cupy
def test_results_go_between_libraries():
    array = noise((48, 64, 3))
    result = gpu(LINE)(torch.from_numpy(array).cuda())
    same(cupy.asnumpy(result.cupy()), result.torch().cpu().numpy())
    back = torch.from_dlpack(gpu("invert")(cupy.asarray(array)))
    same(back.cpu().numpy(), 255 - array)
