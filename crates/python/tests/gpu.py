"""What tensors of a GPU cost, as lines to read: `python gpu.py overhead|sync|calls|trace`. Nothing here is a test; test_cuda.py is.

overhead  a call of a pipeline over 64x64 on the CPU, beside what the engine itself took for it
sync      how long calls take while the stream is asleep: nobody waits, or the call would take as long
calls     torch -> pipeline -> torch, on the host and on the GPU, beside PyTorch's own way where there is one
trace     what PyTorch's profiler sees of the driver while calls are made: no call that waits
"""

import collections
import statistics
import sys
import time

import mini_image_pipe as mip
import numpy as np

# w3 of the benchmark suite: what a classifier takes.
W3 = (
    "resize shorter_side=256 ! crop width=224 height=224 center=true "
    "! normalize mean=[0.485, 0.456, 0.406] std=[0.229, 0.224, 0.225] ! layout to=chw"
)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def line(name, **numbers):
    print(f"{name:44}", "  ".join(f"{key} {value}" for key, value in numbers.items()), flush=True)


def rounds(call, number, repeat=7):
    """Microseconds of a call: best and median of `repeat` rounds of `number`, as `python -m timeit` counts."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - start) / number * 1e6)
    return {"loops": number, "best of": repeat, "best": f"{min(times):.2f} us", "median": f"{statistics.median(times):.2f} us"}


def overhead():
    for text in ("invert", "flip", "gaussian_blur kernel=5", "resize width=32 ! sobel"):
        for shape in ((64, 64), (64, 64, 3)):
            array = np.zeros(shape, np.uint8)
            pipe = mip.Pipeline(text, device="cpu")
            for _ in range(200):
                pipe(array)
            wall, inside = [], []
            for _ in range(5000):
                start = time.perf_counter()
                pipe(array)
                wall.append((time.perf_counter() - start) * 1e6)
                inside.append(pipe.report["elapsed_ms"] * 1e3)
            more = statistics.median(w - i for w, i in zip(wall, inside))
            line(f"cpu {text} {shape}", **rounds(lambda: pipe(array), 2000), over_the_engine=f"{more:.2f} us")


def torch_of():
    import torch

    print("torch", torch.__version__, torch.cuda.get_device_name(), "numpy", np.__version__, flush=True)
    return torch


def workloads(torch):
    noise = np.random.default_rng(1)
    for name, text, shape in (
        ("w3 500x375", W3, (375, 500, 3)),
        ("w3 1920x1080", W3, (1080, 1920, 3)),
        ("invert 64x64", "invert", (64, 64, 3)),
        ("resize blur sobel 1920x1080", "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 ! sobel", (1080, 1920, 3)),
    ):
        array = noise.integers(0, 255, shape).astype(np.uint8)
        yield name, text, array, torch.from_numpy(array).cuda()


def sync():
    torch = torch_of()
    for name, text, array, tensor in workloads(torch):
        pipe = mip.Pipeline(text, device="cuda")
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                for _ in range(20):
                    pipe(tensor).torch()
                torch.cuda.synchronize()
                start = time.perf_counter()
                torch.cuda._sleep(1_000_000_000)
                asleep = time.perf_counter()
                calls = []
                for _ in range(10):
                    one = time.perf_counter()
                    result = pipe(tensor).torch()
                    calls.append((time.perf_counter() - one) * 1e6)
                still = not stream.query()
                back = time.perf_counter()
                stream.synchronize()
                woke = time.perf_counter()
            same = np.array_equal(result.cpu().numpy(), np.asarray(mip.Pipeline(text, device="cpu")(array)))
            line(
                f"{name}, {'default' if stream.cuda_stream == 0 else 'other'} stream",
                ten_calls=f"{(back - asleep) * 1e6:.0f} us",
                slowest=f"{max(calls):.0f} us",
                stream_slept=f"{(woke - start) * 1e3:.0f} ms",
                still_asleep_after_the_calls=still,
                bytes_as_the_cpu=same,
            )
            if not (still and same):
                sys.exit("the host has waited, or the bytes differ")


def own_way(torch, tensor):
    """w3 as torchvision's functions do it on a GPU, if they are there."""
    try:
        from torchvision.transforms.v2 import functional as F
    except ImportError:
        return None

    def call():
        image = F.resize(tensor.permute(2, 0, 1), [256], antialias=False)
        image = F.center_crop(image, [224, 224])
        return F.normalize(F.to_dtype(image, torch.float32, scale=True), MEAN, STD)

    return call


def calls():
    torch = torch_of()
    for name, text, _, tensor in workloads(torch):
        for mode in ({}, {"graph_replay": True}, {"stream_ordered": True}):
            pipe = mip.Pipeline(text, device="cuda", **mode)
            label = f"{name} {' '.join(mode)}"

            def call():
                return pipe(tensor).torch()

            measure(torch, label, call)
        batch = tensor[None].expand(8, *tensor.shape).contiguous()
        pipe = mip.Pipeline(text, device="cuda", max_batch_size=8)
        measure(torch, f"{name} batch of 8", lambda: [image.torch() for image in pipe.run_batch(batch)])
        pipe = mip.Pipeline(text, device="cuda")
        line(f"  parts: call alone", **rounds(lambda: pipe(tensor), 200))
        torch.cuda.synchronize()
        result = pipe(tensor)
        line(f"  parts: .torch() alone", **rounds(result.torch, 500))
        line(f"  parts: torch's own __dlpack__", **rounds(lambda: tensor.__dlpack__(stream=-1), 2000))
        line(f"  host round trip: .cpu() -> pipe -> .cuda()", **rounds(lambda: torch.from_numpy(pipe(tensor.cpu().numpy())).cuda(), 20))
        if name.startswith("w3") and (theirs := own_way(torch, tensor)):
            measure(torch, f"{name} torchvision v2", theirs)


def measure(torch, label, call):
    for _ in range(50):
        call()
    torch.cuda.synchronize()
    host = rounds(call, 20)
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    each = []
    for _ in range(15):
        begin.record()
        for _ in range(20):
            call()
        end.record()
        end.synchronize()
        each.append(begin.elapsed_time(end) / 20 * 1e3)
    waiting = []
    for _ in range(200):
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        waiting.append((time.perf_counter() - start) * 1e6)
    line(
        label,
        queued=f"{host['median']}",
        per_call_in_a_row=f"{statistics.median(each):.1f} us",
        alone_with_a_wait=f"{statistics.median(waiting):.1f} us",
    )


def trace():
    torch = torch_of()
    from torch.profiler import ProfilerActivity, profile

    for name, text, _, tensor in workloads(torch):
        pipe = mip.Pipeline(text, device="cuda")
        for _ in range(20):
            pipe(tensor).torch()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            for _ in range(20):
                result = pipe(tensor).torch()
            del result
        counts = collections.Counter(event.name for event in seen.events())
        waits = {name: count for name, count in counts.items() if "ynchronize" in name}
        print(name)
        for event, count in counts.most_common(40):
            print(f"  {count:5} {event}")
        # One wait is the profiler's own, at its end.
        line("  calls that wait, of 20 calls", **{key: value for key, value in waits.items()})


if __name__ == "__main__":
    parts = {"overhead": overhead, "sync": sync, "calls": calls, "trace": trace}
    if sys.argv[1:] and all(name in parts for name in sys.argv[1:]):
        for name in sys.argv[1:]:
            print(f"== {name}", flush=True)
            parts[name]()
    else:
        sys.exit(__doc__)
