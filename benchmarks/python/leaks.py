#!/usr/bin/env python3
"""Whether memory stays flat over very many calls of the Python package, from several threads too.

    MIP_PYTHON_RELEASE=1 bash .ci/python.sh
    target/python-venv/bin/python benchmarks/python/leaks.py --calls 1000000 --threads 4

Calls of every kind take turns: arrays in any order of memory, images, pictures of Pillow, DLPack both ways, functions, batches, streams, changed
parameters, errors, and every thousandth a pipeline that is made, planned, pickled and dropped. After a tenth of them, where caches are full,
memory is measured: what the process holds (RSS), what the C library's allocator has given out, which is what Rust and NumPy
hold, and what Python has given out (tracemalloc, in a run of its own since it is slow). Ends with 1 where any grew by more than noise.
"""

import argparse
import ctypes
import gc
import json
import pickle
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import mini_image_pipe as mip
import numpy as np
from mini_image_pipe import ops

# Without the GIL Python frees some of its memory later: when every thread has got past the moment at which it was let go of.
LATER = 0 if getattr(sys, "_is_gil_enabled", lambda: True)() else 192 << 10

# By which each may grow, in bytes: what allocators keep for themselves, over any number of calls.
NOISE = {"rss": 4 << 20, "heap": 256 << 10, "python": (64 << 10) + LATER}


def rss():
    """Bytes that the process holds in memory; None where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return None


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def heap():
    """Bytes that the C library's allocator has given out; None where that is not glibc."""
    try:
        function = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    function.restype = _Mallinfo2
    info = function()
    return info.uordblks + info.hblkhd


class Calls:
    """Calls of every kind, by turns, over pipelines of its own and one that all threads share."""

    def __init__(self, shared):
        random = np.random.default_rng(1)
        self._photo = random.integers(0, 256, (48, 64, 3), dtype=np.uint8)
        self._turned = np.asfortranarray(self._photo)
        self._picture = self._pillow()
        self._image = mip.Image(self._photo)
        self._own = mip.Pipeline("soft:gaussian_blur kernel=3 ! resize width=20 ! sobel", device="cpu", num_streams=1)
        self._shared = shared
        self._turns = [
            lambda: self._own(self._photo),
            lambda: self._own(self._turned),
            lambda: self._own(self._image).numpy(),
            lambda: self._own(self._picture),
            lambda: self._shared(self._photo, layout=None, format="bgr"),
            lambda: mip.Image(self._photo[::2]),
            lambda: np.from_dlpack(self._shared(self._image)),
            lambda: self._shared(np.asarray(mip.Image(self._photo))),
            lambda: self._image.__dlpack__(max_version=(1, 0)),
            lambda: ops.median(self._photo, kernel=3),
            lambda: ops.GaussianBlur(self._photo, ksize=(3, 3)),
            lambda: self._own.run_batch([self._photo] * 3),
            lambda: self._change(),
            lambda: self._refused(lambda: self._own(self._photo[0, 0])),
            lambda: self._refused(lambda: self._own.__setitem__("soft.kernel", 2)),
            lambda: self._refused(lambda: ops.resize(self._photo, widht=3)),
            lambda: self._own.report,
        ]

    def _pillow(self):
        try:
            from PIL import Image
        except ImportError:
            return self._photo
        return Image.fromarray(self._photo)

    def _change(self):
        self._own.soft.sigma = 1.0 + time.perf_counter() % 1
        return self._own["soft.sigma"]

    def _refused(self, call):
        try:
            call()
        except mip.RequestError:
            return
        raise AssertionError("what is wrong was taken")

    def _rare(self):
        pipe = pickle.loads(pickle.dumps(mip.Pipeline("erode ! sobel", device="cpu", num_streams=1)))
        str(pipe.plan(self._photo))
        chain = ops.flip() | pipe
        assert len(list(chain.stream(self._photo for _ in range(3)))) == 3

    def run(self, calls):
        for number in range(calls):
            if number % 1000 == 0:
                self._rare()
            self._turns[number % len(self._turns)]()


def over_threads(calls, count):
    """So many calls, shared out."""
    failed = []

    def work(own):
        try:
            own.run(-(-count // len(calls)))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(own,)) for own in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def settled(measures):
    for _ in range(3):
        gc.collect()
    return {name: measure() for name, measure in measures.items()}


def measured(count, threads=1):
    """Growth of memory in bytes over so many calls, each measure by itself: by name, None where it cannot be measured here."""
    shared = mip.Pipeline("flip ! invert", device="cpu")
    calls = [Calls(shared) for _ in range(threads)]
    grown = {}
    runs = [(count, {"rss": rss, "heap": heap}), (min(count, 100_000), {"python": lambda: tracemalloc.get_traced_memory()[0]})]
    for number, measures in runs:
        if "python" in measures:
            tracemalloc.start()
        over_threads(calls, max(number // 10, 2000))
        before = settled(measures)
        over_threads(calls, number)
        after = settled(measures)
        grown |= {name: None if before[name] is None else after[name] - before[name] for name in measures}
        tracemalloc.stop()
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    grown = measured(options.calls, options.threads)
    seconds = time.perf_counter() - start
    if options.json:
        print(json.dumps({"calls": options.calls, "threads": options.threads, "seconds": round(seconds, 1), "grown": grown}))
    else:
        print(f"{options.calls} calls from {options.threads} threads in {seconds:.0f} s")
        for name, by in grown.items():
            print(f"  {name:7} {'cannot be measured here' if by is None else f'grew by {by} bytes, {by / options.calls:.3f} a call; noise is {NOISE[name]}'}")
    sys.exit(any(by is not None and by > NOISE[name] for name, by in grown.items()))


if __name__ == "__main__":
    main()
