#!/usr/bin/env python3
"""w1 on the CPU: OpenCV (buffers reused, as a careful user writes it) against `Pipeline`, interleaved round by round.

    cargo build --release -p mini-image-pipe --example w1
    pip install numpy opencv-python-headless
    python3 benchmarks/cpu/opencv_w1.py [--threads 1] [--rounds 7] [--binary target/release/examples/w1]

Only the ratio means anything: both sides run in turns on the same machine in the same minutes. With --threads 1 both are
pinned to one core.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--seconds", type=float, default=1.5, help="of each side in each round")
parser.add_argument("--binary", default="target/release/examples/w1")
args = parser.parse_args()
if args.threads == 1:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import cv2  # after pinning, so that its pool sees one core
import numpy as np

cv2.setNumThreads(args.threads)
W, H = 1280, 720
image = np.random.default_rng(1).integers(0, 256, (1080, 1920, 3), np.uint8)
small, gray, soft = np.empty((H, W, 3), np.uint8), np.empty((H, W), np.uint8), np.empty((H, W), np.uint8)
gx, gy, magnitude = (np.empty((H, W), np.float32) for _ in range(3))
edges = np.empty((H, W), np.uint8)


def chain():
    cv2.resize(image, (W, H), dst=small, interpolation=cv2.INTER_LINEAR)
    cv2.cvtColor(small, cv2.COLOR_RGB2GRAY, dst=gray)
    cv2.GaussianBlur(gray, (5, 5), 1.1, dst=soft)
    cv2.Sobel(soft, cv2.CV_32F, 1, 0, dst=gx, ksize=3)
    cv2.Sobel(soft, cv2.CV_32F, 0, 1, dst=gy, ksize=3)
    cv2.magnitude(gx, gy, magnitude)
    cv2.convertScaleAbs(magnitude, edges)


def opencv_round():
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < args.seconds:
        one = time.perf_counter()
        chain()
        times.append((time.perf_counter() - one) * 1e3)
    return statistics.median(times), min(times)


def our_round():
    out = subprocess.run([args.binary, str(args.threads), str(args.seconds)], check=True, capture_output=True, text=True)
    result = json.loads(out.stdout)
    return result["median_ms"], result["min_ms"]


for _ in range(5):
    chain()
rounds = [(opencv_round(), our_round()) for _ in range(args.rounds)]
for (cv_median, cv_min), (our_median, our_min) in rounds:
    print(f"opencv {cv_median:7.2f} ms (min {cv_min:6.2f})   mip {our_median:7.2f} ms (min {our_min:6.2f})   {cv_median / our_median:5.2f} x")
ratios = sorted(cv[0] / ours[0] for cv, ours in rounds)
best = [min(side[1] for side in sides) for sides in zip(*rounds)]
print(
    f"OpenCV {cv2.__version__}, {args.threads} thread(s): median ratio {statistics.median(ratios):.2f} x "
    f"(from {ratios[0]:.2f} to {ratios[-1]:.2f}); best rounds {best[0]:.2f} against {best[1]:.2f} ms"
)
