#!/usr/bin/env python3
"""Our workloads on the CPU against OpenCV, Halide, Pillow, libvips and Rust crates, in turns.

    cargo build --release -p mini-image-pipe --example workload
    cargo build --release --manifest-path benchmarks/cpu/crates_peers/Cargo.toml
    pip install numpy opencv-python-headless pillow halide 'pyvips[binary]'
    python3 benchmarks/cpu/peers.py [--workloads w1,w2,w3,w4] [--threads 1,2] [--rounds 7] [--seconds 0.5]

What is not installed is skipped and named. Every program keeps its buffers, is pinned to as many cores as it has
threads, and runs for some seconds in each round, one program after another: on a shared machine only ratios of times
taken in the same minutes mean anything. The table has each program's best time, the median over rounds of its
median, and the median over rounds of (its time / ours).
"""
import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Programs of crates_peers for w3.
CRATES = ("fast_image_resize", "kornia", "kornia-fused")
# Whose resize for w3 is antialiased: ours beside them is too.
ANTIALIASED = ("Pillow", "libvips", "fast_image_resize")
SIZES = {"w1": (1920, 1080, 1280, 720), "w2": (3840, 2160, 1920, 1080), "w4": (1920, 1080, 1920, 1080)}


def picture(workload):
    import numpy as np

    width, height = SIZES[workload][:2] if workload in SIZES else (500, 375)
    shape = (32, height, width, 3) if workload == "w3" else (height, width, 3)
    return np.random.default_rng(1).integers(0, 256, shape, np.uint8)


def over_batch(one, threads):
    """w3: the images of a batch over threads, for libraries that let go of Python's lock."""
    if threads == 1:
        return lambda: [one(i) for i in range(32)]
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(one, range(32)))


def opencv(workload, threads, _):
    import cv2
    import numpy as np

    cv2.setNumThreads(threads)
    image = picture(workload)
    if workload == "w3":
        cv2.setNumThreads(1)
        out = np.empty((32, 3, 224, 224), np.float32)
        mean, scale = [m * 255 for m in MEAN], [1 / (s * 255) for s in STD]

        def one(i):
            small = cv2.resize(image[i], (341, 256), interpolation=cv2.INTER_LINEAR)[16:240, 58:282]
            for c, plane in enumerate(cv2.split(small)):
                cv2.multiply(cv2.subtract(plane, mean[c], dtype=cv2.CV_32F), scale[c], dst=out[i, c])

        return over_batch(one, threads)
    w, h = SIZES[workload][2:]
    small, gray, soft, edges, cut = np.empty((h, w, 3), np.uint8), *(np.empty((h, w), np.uint8) for _ in range(4))
    gx, gy, magnitude = (np.empty((h, w), np.float32) for _ in range(3))

    def sobel(source):
        cv2.Sobel(source, cv2.CV_32F, 1, 0, dst=gx, ksize=3)
        cv2.Sobel(source, cv2.CV_32F, 0, 1, dst=gy, ksize=3)
        cv2.magnitude(gx, gy, magnitude)
        cv2.convertScaleAbs(magnitude, edges)

    def edge_chain():
        cv2.resize(image, (w, h), dst=small, interpolation=cv2.INTER_LINEAR)
        cv2.cvtColor(small, cv2.COLOR_RGB2GRAY, dst=gray)
        cv2.GaussianBlur(gray, (5, 5), 1.1, dst=soft)
        sobel(soft)

    def fork():
        cv2.cvtColor(image, cv2.COLOR_RGB2GRAY, dst=gray)
        cv2.GaussianBlur(gray, (7, 7), 1.5, dst=soft)
        sobel(gray)
        cv2.addWeighted(soft, 0.5, edges, 0.5, 0, dst=cut)
        cv2.threshold(cut, 100, 255, cv2.THRESH_BINARY, dst=cut)

    return fork if workload == "w4" else edge_chain


def pillow(workload, threads, _):
    import numpy as np
    from PIL import Image, ImageFilter

    image = picture(workload)
    if workload == "w3":
        images = [Image.fromarray(frame) for frame in image]
        out = np.empty((32, 3, 224, 224), np.float32)
        mean, scale = np.array(MEAN, np.float32) * 255, 1 / (np.array(STD, np.float32) * 255)

        def one(i):  # Pillow's bilinear is antialiased
            small = images[i].resize((341, 256), Image.BILINEAR).crop((58, 16, 282, 240))
            out[i] = ((np.asarray(small).astype(np.float32) - mean) * scale).transpose(2, 0, 1)

        return over_batch(one, threads)
    if threads > 1:
        return None  # one image is one thread's work

    def sobel(gray):  # Pillow has no signed results; numpy is the usual way out
        p = np.pad(np.asarray(gray).astype(np.int16), 1, "reflect")
        down, across = p[:-2] + 2 * p[1:-1] + p[2:], p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
        gx = (down[:, 2:] - down[:, :-2]).astype(np.float32)
        gy = (across[2:] - across[:-2]).astype(np.float32)
        return np.minimum(np.sqrt(gx * gx + gy * gy) + 0.5, 255).astype(np.uint8)

    source = Image.fromarray(image)
    raw = np.exp(-np.arange(-2, 3) ** 2 / (2 * 1.1**2))
    five = ImageFilter.Kernel((5, 5), np.outer(raw, raw).ravel().tolist())

    def fork():
        gray = source.convert("L")
        soft = gray.filter(ImageFilter.GaussianBlur(1.5))
        return Image.blend(soft, Image.fromarray(sobel(gray)), 0.5).point(lambda v: 255 if v > 100 else 0)

    size = SIZES[workload][2:]
    edge_chain = lambda: sobel(source.resize(size, Image.BILINEAR).convert("L").filter(five))
    return fork if workload == "w4" else edge_chain


def vips(workload, threads, _):
    os.environ["VIPS_CONCURRENCY"] = str(threads)
    import numpy as np
    import pyvips

    pyvips.cache_set_max(0)
    image = picture(workload)

    def source(array):
        memory = pyvips.Image.new_from_memory(array.tobytes(), array.shape[1], array.shape[0], 3, "uchar")
        return memory.copy(interpretation="srgb")

    if workload == "w3":
        images = [source(frame) for frame in image]

        def tensors():
            for frame in images:
                small = frame.resize(256 / 375, kernel="linear").crop(58, 16, 224, 224)
                scaled = (small - [m * 255 for m in MEAN]) / [s * 255 for s in STD]
                np.frombuffer(scaled.cast("float").write_to_memory(), np.float32).reshape(224, 224, 3).transpose(2, 0, 1)

        return tensors
    luma = pyvips.Image.new_from_array([[0.299, 0.587, 0.114]])
    across = pyvips.Image.new_from_array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    down = pyvips.Image.new_from_array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])

    def gaussian(size, sigma):
        raw = np.exp(-((np.arange(size) - size // 2) ** 2) / (2 * sigma * sigma))
        whole = np.round(raw / raw.sum() * 256).astype(int)
        whole[size // 2] += 256 - whole.sum()
        return pyvips.Image.new_from_array([whole.tolist()], scale=256)

    five, seven, frame = gaussian(5, 1.1), gaussian(7, 1.5), source(image)
    gray = lambda of: (of.recomb(luma) + 0.5).cast("uchar")

    def sobel(of):
        gx, gy = (of.cast("short").conv(kernel, precision="integer") for kernel in (across, down))
        return ((gx * gx + gy * gy) ** 0.5 + 0.5).cast("uchar")

    def fork():
        once = gray(frame).copy_memory()
        cut = (once.convsep(seven, precision="integer") + sobel(once)) > 200
        return cut.cast("uchar").write_to_memory()

    width, height, w, h = SIZES[workload]
    # No antialiasing, as in the others: an affine map with bilinear interpolation and half-pixel centres.
    sx, sy, bilinear = w / width, h / height, pyvips.Interpolate.new("bilinear")
    shrink = lambda: frame.affine(
        [sx, 0, 0, sy], interpolate=bilinear, oarea=[0, 0, w, h], odx=0.5 * sx - 0.5, ody=0.5 * sy - 0.5, extend="copy"
    )
    edge_chain = lambda: sobel(gray(shrink()).convsep(five, precision="integer")).write_to_memory()
    return fork if workload == "w4" else edge_chain


class Dimension(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int32) for n in ("min", "extent", "stride")] + [("flags", ctypes.c_uint32)]


class HalideBuffer(ctypes.Structure):
    """`halide_buffer_t`."""

    _fields_ = [("device", ctypes.c_uint64), ("device_interface", ctypes.c_void_p), ("host", ctypes.c_void_p)]
    _fields_ += [("flags", ctypes.c_uint64), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8)]
    _fields_ += [("lanes", ctypes.c_uint16), ("dimensions", ctypes.c_int32)]
    _fields_ += [("dim", ctypes.POINTER(Dimension)), ("padding", ctypes.c_void_p)]

    @classmethod
    def of(cls, array, extents_and_strides):
        dims = (Dimension * len(extents_and_strides))(*((0, e, s, 0) for e, s in extents_and_strides))
        buffer = cls(0, None, array.ctypes.data, 0, 1, 8, 1, len(dims), dims, None)  # code 1: unsigned
        buffer.keep = (array, dims)
        return buffer


def halide(variant):
    def make(workload, threads, objects):
        if not variant.startswith(workload) or not (pathlib.Path(objects) / f"{variant}.so").exists():
            return None
        os.environ["HL_NUM_THREADS"] = str(threads)
        import numpy as np

        function = getattr(ctypes.CDLL(str(pathlib.Path(objects) / f"{variant}.so")), f"halide_{variant}")
        width, height, w, h = SIZES[workload]
        source = HalideBuffer.of(picture(workload), [(3, 1), (width, 3), (height, 3 * width)])
        result = HalideBuffer.of(np.empty((h, w), np.uint8), [(w, 1), (h, w)])

        def run():
            error = function(ctypes.byref(source), ctypes.byref(result))
            assert error == 0, f"Halide's error {error}"

        return run

    return make


PEERS = {"OpenCV": opencv, "Pillow": pillow, "libvips": vips}
PEERS |= {f"Halide {v}": halide(v) for v in ("w1_exact", "w1_grayfirst", "w2_exact", "w2_grayfirst", "w4")}


def serve(peer, workload, threads, objects):
    """A peer's process: for every number of seconds on standard input, runs that long and prints its times."""
    run = PEERS[peer](workload, threads, objects)
    if run is None:
        return
    for _ in range(3):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        times, start = [], time.perf_counter()
        while not times or time.perf_counter() - start < float(line):
            one = time.perf_counter()
            run()
            times.append((time.perf_counter() - one) * 1e3)
        print(json.dumps({"min_ms": min(times), "median_ms": statistics.median(times)}), flush=True)


class Side:
    """A program that takes turns."""

    def __init__(self, command, cores, awaits_ready):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        self.rounds = []
        self.ready = not awaits_ready or self.process.stdout.readline().strip() == "ready"

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.rounds.append(json.loads(self.process.stdout.readline()))

    def end(self):
        error = self.process.communicate()[1].strip().splitlines()
        return error[-1] if error else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default="w1,w2,w3,w4")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each program in each round")
    everybody = list(PEERS) + list(CRATES)
    parser.add_argument("--peers", default=",".join(everybody), help="which, by the start of their names")
    parser.add_argument("--binary", default="target/release/examples/workload")
    parser.add_argument("--crates", default=str(HERE / "crates_peers/target/release/crates-peers"))
    parser.add_argument("--halide", default="", help="directory with what halide_chains.py compiled")
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        peer, workload, threads, objects = args.serve
        return serve(peer, workload, int(threads), objects)

    objects = args.halide or tempfile.mkdtemp(prefix="halide-")
    if not args.halide and "Halide" in args.peers:
        compiled = subprocess.run([sys.executable, HERE / "halide_chains.py", objects], capture_output=True, text=True)
        if compiled.returncode:
            print("skipped: Halide:", (compiled.stderr.strip().splitlines() or ["not compiled"])[-1])
    wanted = [peer for peer in everybody if any(peer.startswith(start) for start in args.peers.split(","))]
    cores, skipped = sorted(os.sched_getaffinity(0)), set()
    print(f"{'workload':8} {'threads':>7}  {'program':20} {'best ms':>9} {'median ms':>9}  times ours (from to)")
    for workload in args.workloads.split(","):
        for threads in map(int, args.threads.split(",")):
            mine = set(cores[:threads])
            sides = {"ours": Side([args.binary, workload, str(threads)], mine, False)}
            for peer in wanted:
                if peer in CRATES:
                    if workload != "w3" or not pathlib.Path(args.crates).exists():
                        skipped |= {f"{peer}: {args.crates} is not built"} if workload == "w3" else set()
                        continue
                    sides[peer] = Side([args.crates, peer, str(threads)], mine, False)
                    continue
                command = [sys.executable, __file__, "--serve", peer, workload, str(threads), objects]
                side = Side(command, mine, True)
                if side.ready:
                    sides[peer] = side
                elif reason := side.end():
                    skipped.add(f"{peer}: {reason}")
            if workload == "w3" and any(peer in sides for peer in ANTIALIASED):
                sides["ours, antialiased"] = Side([args.binary, "w3-antialiased", str(threads)], mine, False)
            for _ in range(args.rounds + 1):
                for side in sides.values():
                    side.turn(args.seconds)
            for side in sides.values():
                del side.rounds[0]  # programs were still starting beside it
            for name, side in sides.items():
                side.end()
                medians = [r["median_ms"] for r in side.rounds]
                same = "ours, antialiased" if workload == "w3" and name in ANTIALIASED else "ours"
                ratios = sorted(m / o["median_ms"] for m, o in zip(medians, sides[same].rounds))
                best, middle = min(r["min_ms"] for r in side.rounds), statistics.median(medians)
                ratio = f"{statistics.median(ratios):6.2f} ({ratios[0]:.2f} {ratios[-1]:.2f})" if not name.startswith("ours") else ""
                print(f"{workload:8} {threads:7}  {name:20} {best:9.2f} {middle:9.2f}  {ratio}", flush=True)
    for line in sorted(skipped):
        print("skipped:", line)


if __name__ == "__main__":
    main()
