#!/usr/bin/env python3
"""How many more calls of a pipeline two threads of Python make than one: with the GIL, and without where Python is built so.

    MIP_PYTHON_RELEASE=1 bash .ci/python.sh
    target/python-venv/bin/python benchmarks/python/threads.py

Each thread has a pipeline of its own. `small` is 64 x 64 bytes, where calls take as long in Python as in the engine; `medium` is 256 x 256 x 3;
`python` is a loop that only Python runs, which says what the interpreter and the machine's other work leave to be had. One thread
and several take turns; of all rounds the best is printed, since other work on the machine only takes away.
"""

import argparse
import json
import sys
import threading
import time

import mini_image_pipe as mip
import numpy as np

IMAGES = {
    "small": ("flip", np.zeros((64, 64), np.uint8)),
    "medium": ("gaussian_blur kernel=3 ! sobel", np.zeros((256, 256, 3), np.uint8)),
}


def pipeline(name):
    text, image = IMAGES[name]
    pipe = mip.Pipeline(text, device="cpu", num_streams=1)
    return lambda: pipe(image)


def python():
    total = 0
    for number in range(2000):
        total += number * number
    return total


def rate(calls, seconds):
    """Calls a second of all threads together; each thread makes calls of its own."""
    for call in calls:
        call()
    begin, counts, end = threading.Barrier(len(calls) + 1), [0] * len(calls), []

    def work(number):
        call, count = calls[number], 0
        begin.wait()
        while time.perf_counter() < end[0]:
            call()
            count += 1
        counts[number] = count

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    end.append(start + seconds)
    begin.wait()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each round")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    found = {}
    for name in ("python", *IMAGES):
        calls = [python if name == "python" else pipeline(name) for _ in range(options.threads)]
        rounds = [(rate(calls[:1], options.seconds), rate(calls, options.seconds)) for _ in range(options.rounds)]
        one, many = (max(column) for column in zip(*rounds, strict=True))
        found[name] = {"one": round(one), "many": round(many), "ratio": round(many / one, 2)}
    if options.json:
        print(json.dumps({"python": sys.version.split()[0], "gil": gil, "threads": options.threads, "found": found}))
        return
    print(f"Python {sys.version.split()[0]}, {'with' if gil else 'without'} the GIL; calls a second")
    for name, of in found.items():
        print(f"  {name:8} one thread {of['one']:7}, {options.threads} threads {of['many']:7}: {of['ratio']:.2f} times as many")


if __name__ == "__main__":
    main()
