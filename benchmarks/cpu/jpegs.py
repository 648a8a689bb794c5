#!/usr/bin/env python3
"""A folder of JPEGs through w1 to JPEGs: `mip run` against OpenCV with a pool of threads, in turns.

    cargo build --release -p mip-cli
    pip install numpy opencv-python-headless
    python3 benchmarks/cpu/jpegs.py [--images 60] [--threads 2] [--rounds 5] [--binary target/release/mip]

Both programs are pinned to as many cores as they have threads. The time of `mip run` is that of the whole process;
OpenCV's leaves out the start of Python and its imports. Memory is the most that was resident in the whole process.
Pictures are 1920x1080: gradients, shapes and a little noise, at quality 90 about 0.4 MB each.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

W1 = "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel"


def pictures(folder, count):
    import cv2
    import numpy as np

    random = np.random.default_rng(1)
    y, x = np.mgrid[0:1080, 0:1920].astype(np.float32)
    for i in range(count):
        planes = [127 + 90 * np.sin(x / (150 + 40 * c + i) + y / (90 + 30 * c)) for c in range(3)]
        image = np.stack(planes, axis=-1)
        for _ in range(40):
            centre = (int(random.integers(1920)), int(random.integers(1080)))
            cv2.circle(image, centre, int(random.integers(10, 150)), random.integers(0, 256, 3).tolist(), -1)
        image = np.clip(image + random.normal(0, 4, image.shape), 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"{i:03}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 90])


def with_opencv(source, target, threads):
    """Its own process: prints how long the work took."""
    from concurrent.futures import ThreadPoolExecutor

    import cv2

    cv2.setNumThreads(1)

    def one(path):
        small = cv2.resize(cv2.imread(str(path)), (1280, 720), interpolation=cv2.INTER_LINEAR)
        gray = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
        soft = cv2.GaussianBlur(gray, (5, 5), 1.1)
        gx, gy = cv2.Sobel(soft, cv2.CV_32F, 1, 0, ksize=3), cv2.Sobel(soft, cv2.CV_32F, 0, 1, ksize=3)
        edges = cv2.convertScaleAbs(cv2.magnitude(gx, gy))
        cv2.imwrite(str(pathlib.Path(target) / path.name), edges, [cv2.IMWRITE_JPEG_QUALITY, 90])

    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, sorted(pathlib.Path(source).glob("*.jpg"))))
    print(time.perf_counter() - start)


def run(command, cores):
    """Seconds (those that the program prints, or those of the whole process) and resident megabytes."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    assert status == 0, f"{command[0]} failed"
    last = output.split()[-1:]
    printed = last and last[0].replace(".", "", 1).isdigit()
    return (float(last[0]) if printed else seconds), usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary", default="target/release/mip")
    parser.add_argument("--source", help="folder of JPEGs to use instead")
    parser.add_argument("--opencv", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--pictures", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.pictures:
        return pictures(pathlib.Path(args.pictures), args.images)
    if args.opencv:
        source, target, threads = args.opencv
        return with_opencv(source, target, int(threads))

    cores = set(sorted(os.sched_getaffinity(0))[: args.threads])
    with tempfile.TemporaryDirectory() as folder:
        source, out = pathlib.Path(args.source or f"{folder}/in"), pathlib.Path(folder) / "out"
        out.mkdir()
        if not args.source:
            source.mkdir()
            # Not here: what is resident in a parent counts as the child's until that starts its own program.
            subprocess.run([sys.executable, __file__, "--pictures", source, "--images", str(args.images)], check=True)
        count = len(list(source.glob("*.jpg")))
        sides = {
            "mip run": [args.binary, "run", "--device", "cpu", "-e", W1, str(source), "-o", str(out), "--format", "jpg"],
            "OpenCV": [sys.executable, __file__, "--opencv", str(source), str(out), str(args.threads)],
        }
        results = {name: [] for name in sides}
        for command in sides.values():
            run(command, cores)
        for _ in range(args.rounds):
            for name, command in sides.items():
                results[name].append(run(command, cores))
    print(f"{'program':10} {'images/s best':>14} {'median':>8} {'MB':>6}")
    for name, runs in results.items():
        rates = [count / seconds for seconds, _ in runs]
        memory = max(megabytes for _, megabytes in runs)
        print(f"{name:10} {max(rates):14.1f} {statistics.median(rates):8.1f} {memory:6.0f}")


if __name__ == "__main__":
    main()
