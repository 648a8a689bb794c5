#!/usr/bin/env python3
"""The Python package against what people use from Python, in turns: OpenCV, Pillow, torchvision v2, kornia-rs, Albumentations.

    MIP_PYTHON_RELEASE=1 bash .ci/python.sh
    target/python-venv/bin/python -m pip install torch torchvision kornia-rs albumentations     # as far as wanted
    target/python-venv/bin/python benchmarks/python/peers.py [--workloads jpeg,w1,w3] [--threads 1,2] [--rounds 7] [--seconds 1]

`jpeg` is a folder of 1080p JPEGs to normalised tensors (3, 224, 224): decoded, shorter side 256, cut, normalised, planar; `w1` and `w3` are those of
benchmarks/README.md, over arrays. What is not installed is skipped and named. Each program is a process pinned to as many cores as it has
threads; they take turns, and only the ratios of times of one round say anything on a machine that others use. The table has each program's
best time, the median over rounds of its median, and the median over rounds of (its time / ours) with the least and the most.

Which results are alike: resizes of Pillow, torchvision (by default) and kornia-rs are antialiased and compared with `ours, antialiased`; OpenCV's and
Albumentations' are not.
"""

import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve()
_spec = importlib.util.spec_from_file_location("cpu_peers", HERE.parents[1] / "cpu/peers.py")
cpu = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cpu)

MEAN, STD = cpu.MEAN, cpu.STD
FILES = 32
ANTIALIASED = ("Pillow", "torchvision", "kornia-rs")


def draw(folder, count=FILES):
    """Pictures of about the entropy of photos: smooth shapes with fine noise, 300 to 500 KB each. Beyond `FILES` they come again under other names."""
    import mini_image_pipe as mip
    import numpy as np

    for number in range(min(count, FILES)):
        random = np.random.default_rng(number)
        rough = mip.ops.resize(random.integers(0, 256, (27, 48, 3), dtype=np.uint8), width=1920, height=1080, filter="bicubic")
        fine = random.normal(0, 5, (1080, 1920, 1))
        mip.save(np.clip(rough + fine, 0, 255).astype(np.uint8), Path(folder) / f"{number:03}.jpg", quality=85)
    for number in range(FILES, count):
        os.link(Path(folder) / f"{number % FILES:03}.jpg", Path(folder) / f"{number:03}.jpg")


def over_files(one, folder, threads):
    """One after the other, or over threads."""
    paths = sorted(Path(folder).glob("*.jpg"))
    if threads == 1:
        return lambda: [one(path) for path in paths]
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(one, paths))


def tensors_by(make, workload, threads, folder, read):
    """`jpeg` and `w3` alike: `make()` gives a function from an array to its tensor, one for each thread."""
    own = threading.local()

    def tensor(image):
        if not hasattr(own, "one"):
            own.one = make()
        return own.one(image)

    if workload == "jpeg":
        return over_files(lambda path: tensor(read(path)), folder, threads)
    images = cpu.picture("w3")
    return cpu.over_batch(lambda index: tensor(images[index]), threads)


def ours(antialias):
    def made(workload, threads, folder):
        import mini_image_pipe as mip

        flag = "true" if antialias else "false"
        line = f"resize shorter_side=256 antialias={flag} ! crop width=224 height=224 center=true"
        line += f" ! normalize mean={list(MEAN)} std={list(STD)} ! layout to=chw".replace(", ", ",")
        if workload == "jpeg":
            return tensors_by(lambda: mip.Pipeline(line, device="cpu", num_streams=1), workload, threads, folder, mip.open)
        if workload == "w3":
            pipe, images = mip.Pipeline(line, device="cpu", max_batch_size=32), cpu.picture("w3")
            return lambda: pipe.run_batch(images)
        edges, image = "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel", cpu.picture("w1")
        pipe = mip.Pipeline(edges, device="cpu")
        return None if antialias else lambda: pipe(image)

    return made


def opencv(workload, threads, folder):
    import cv2
    import numpy as np

    if workload != "jpeg":
        return cpu.opencv(workload, threads, None)
    cv2.setNumThreads(1)
    mean, scale = [m * 255 for m in MEAN], [1 / (s * 255) for s in STD]

    def make():
        def one(image):
            height, width = (round(side * 256 / min(image.shape[:2])) for side in image.shape[:2])
            small = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)
            top, left = (height - 224) // 2, (width - 224) // 2
            out = np.empty((3, 224, 224), np.float32)
            for c, plane in enumerate(cv2.split(small[top : top + 224, left : left + 224])[::-1]):
                cv2.multiply(cv2.subtract(plane, mean[c], dtype=cv2.CV_32F), scale[c], dst=out[c])
            return out

        return one

    return tensors_by(make, workload, threads, folder, lambda path: cv2.imread(str(path)))


def pillow(workload, threads, folder):
    import numpy as np
    from PIL import Image

    if workload != "jpeg":
        return cpu.pillow(workload, threads, None)
    mean, scale = np.array(MEAN, np.float32) * 255, 1 / (np.array(STD, np.float32) * 255)

    def make():
        def one(image):
            width, height = (round(side * 256 / min(image.size)) for side in image.size)
            left, top = (width - 224) // 2, (height - 224) // 2
            small = image.resize((width, height), Image.BILINEAR).crop((left, top, left + 224, top + 224))
            return np.ascontiguousarray(((np.asarray(small).astype(np.float32) - mean) * scale).transpose(2, 0, 1))

        return one

    return tensors_by(make, workload, threads, folder, Image.open)


def torchvision(workload, threads, folder):
    import torch
    from torchvision import io
    from torchvision.transforms import v2

    torch.set_num_threads(threads if workload == "w1" else 1)
    if workload == "w1":
        import torch.nn.functional as F

        image = torch.from_numpy(cpu.picture("w1")).permute(2, 0, 1).contiguous()
        chain = v2.Compose([v2.Resize((720, 1280), antialias=False), v2.Grayscale(), v2.GaussianBlur(5, 1.1)])
        across = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
        kernels = torch.stack([across, across.T])[:, None]

        def edges():
            soft = F.pad(chain(image).float()[None], (1, 1, 1, 1), mode="reflect")
            both = F.conv2d(soft, kernels)
            return both.square().sum(1).sqrt().add(0.5).clamp(max=255).to(torch.uint8)

        return edges
    steps = [v2.Resize(256, antialias=True), v2.CenterCrop(224), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    if workload == "jpeg":
        return tensors_by(lambda: v2.Compose(steps), workload, threads, folder, lambda path: io.decode_image(str(path)))
    chain = v2.Compose(steps)
    return tensors_by(lambda: lambda image: chain(torch.from_numpy(image).permute(2, 0, 1)), workload, threads, folder, None)


def kornia(workload, threads, folder):
    import kornia_rs
    import numpy as np

    if workload == "w1":
        if threads > 1:
            return None
        image = cpu.picture("w1")

        def edges():
            small = kornia_rs.imgproc.resize(image, (720, 1280), "bilinear", antialias=False)
            gray = kornia_rs.imgproc.gray_from_rgb(np.asarray(small))
            soft = kornia_rs.imgproc.gaussian_blur(np.asarray(gray), (5, 5), (1.1, 1.1))
            return kornia_rs.imgproc.sobel(np.asarray(soft).astype(np.float32), 3)

        return edges
    mean, scale = np.array(MEAN, np.float32) * 255, 1 / (np.array(STD, np.float32) * 255)

    def make():
        def one(image):
            height, width = (round(side * 256 / min(image.shape[:2])) for side in image.shape[:2])
            small = np.asarray(kornia_rs.imgproc.resize(image, (height, width), "bilinear", antialias=True))
            top, left = (height - 224) // 2, (width - 224) // 2
            part = small[top : top + 224, left : left + 224]
            return np.ascontiguousarray(((part.astype(np.float32) - mean) * scale).transpose(2, 0, 1))

        return one

    return tensors_by(make, workload, threads, folder, lambda path: kornia_rs.io.read_image_jpegturbo(str(path)))


def albumentations(workload, threads, folder):
    os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")
    import albumentations as A
    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    if workload == "w1":
        return None  # it has no Sobel

    def make():
        chain = A.Compose([A.SmallestMaxSize(256), A.CenterCrop(224, 224), A.Normalize(MEAN, STD)])
        return lambda image: np.ascontiguousarray(chain(image=image)["image"].transpose(2, 0, 1))

    return tensors_by(make, workload, threads, folder, lambda path: cv2.imread(str(path), cv2.IMREAD_COLOR_RGB))


PROGRAMS = {
    "ours": ours(False),
    "ours, antialiased": ours(True),
    "OpenCV": opencv,
    "Pillow": pillow,
    "torchvision": torchvision,
    "kornia-rs": kornia,
    "Albumentations": albumentations,
}
cpu.PEERS.clear()
cpu.PEERS.update(PROGRAMS)


def turns(workload, threads, folder, options, cores, skipped):
    sides = {}
    for name in PROGRAMS:
        if name.startswith("ours") or any(name.startswith(start) for start in options.peers.split(",")):
            side = cpu.Side([sys.executable, HERE, "--serve", name, workload, str(threads), folder], cores, True)
            if side.ready:
                sides[name] = side
            elif reason := side.end():
                skipped.add(f"{name}: {reason}")
    for _ in range(options.rounds + 1):
        for side in sides.values():
            side.turn(options.seconds)
    for name, side in sides.items():
        side.end()
        rounds = side.rounds[1:]  # programs were still starting beside the first
        like = "ours, antialiased" if name in ANTIALIASED and workload != "w1" else "ours"
        ratios = sorted(one["median_ms"] / our["median_ms"] for one, our in zip(rounds, sides[like].rounds[1:]))
        best, middle = min(one["min_ms"] for one in rounds), statistics.median(one["median_ms"] for one in rounds)
        ratio = "" if name.startswith("ours") else f"{statistics.median(ratios):6.2f} ({ratios[0]:.2f} {ratios[-1]:.2f})"
        print(f"{workload:8} {threads:7}  {name:20} {best:9.2f} {middle:9.2f}  {ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default="jpeg,w1,w3")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1, help="of each program in each round")
    parser.add_argument("--peers", default=",".join(name for name in PROGRAMS if not name.startswith("ours")))
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        name, workload, threads, folder = options.serve
        return cpu.serve(name, workload, int(threads), folder)

    cores, skipped = sorted(os.sched_getaffinity(0)), set()
    print(f"load {os.getloadavg()[0]:.2f} on {len(cores)} cores before it began: on a machine with other work only ratios say anything")
    print(f"{'workload':8} {'threads':>7}  {'program':20} {'best ms':>9} {'median ms':>9}  times ours (from to)")
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        draw(folder)
        for workload in options.workloads.split(","):
            for threads in map(int, options.threads.split(",")):
                turns(workload, threads, folder, options, set(cores[:threads]), skipped)
    for line in sorted(skipped):
        print("skipped:", line)


if __name__ == "__main__":
    main()
