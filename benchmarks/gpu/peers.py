#!/usr/bin/env python3
"""The chains of `mip bench --suite edges` with the GPU libraries that people use today, beside our own, in one table.

    python3 benchmarks/gpu/peers.py --mip target/release/mip [--batch 1,32] [--compile] [--seconds 0.5]

Peers that are not installed are left out, and that is said: PyTorch (`pip install torch`), CV-CUDA (`pip install cvcuda-cu13`),
NPP (`nvcc` and the NPP libraries of the CUDA toolkit; npp.cu beside this file). Times are microseconds for a whole batch of
images that stay on the GPU: a synchronised clock around many executions, the median of seven such. CV-CUDA has no Sobel: a
Laplacian stands in, which is less work. Results are not compared here; `mip validate` does that for ours.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHAINS = {"w1": (1920, 1080, 1280, 720), "w2": (3840, 2160, 1920, 1080)}


def median_us(run, synchronize, seconds):
    """Median of seven rounds that take `seconds` together."""
    for _ in range(3):
        run()
    synchronize()
    start = time.perf_counter()
    run()
    synchronize()
    once = max(time.perf_counter() - start, 1e-6)
    count = max(1, int(seconds / 7 / once))
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            run()
        synchronize()
        rounds.append((time.perf_counter() - start) / count * 1e6)
    return sorted(rounds)[3]


def torch_rows(batches, seconds, compiled):
    """w1 and w2, w3, w4 in PyTorch, as its users write them."""
    import torch
    import torch.nn.functional as F

    cuda = {"device": "cuda"}
    gauss = {
        5: torch.tensor([0.0702, 0.2403, 0.3790, 0.2403, 0.0702], **cuda),
        7: torch.tensor([0.0378, 0.1115, 0.2157, 0.2700, 0.2157, 0.1115, 0.0378], **cuda),
    }
    across = torch.tensor([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1.0]], **cuda)
    sobel_weights = torch.stack([across, across.t()])[:, None]
    luma = torch.tensor([0.299, 0.587, 0.114], **cuda).view(1, 3, 1, 1)
    mean = torch.tensor([0.485, 0.456, 0.406], **cuda).view(1, 3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225], **cuda).view(1, 3, 1, 1)

    def gray(x):
        return (x * luma).sum(1, keepdim=True).round()

    def blur(x, size):
        weights, r = gauss[size], size // 2
        x = F.pad(x, (r, r, r, r), mode="reflect")
        return F.conv2d(F.conv2d(x, weights.view(1, 1, 1, size)), weights.view(1, 1, size, 1)).round()

    def sobel(x):
        d = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), sobel_weights)
        return (d * d).sum(1, keepdim=True).sqrt().clamp(0, 255).round()

    def resize(x, w, h):
        return F.interpolate(x, size=(h, w), mode="bilinear", align_corners=False)

    def chain(src, w, h):
        return sobel(blur(gray(resize(src.permute(0, 3, 1, 2).float(), w, h).round()), 5)).to(torch.uint8)

    def w3(src):
        x = resize(src.permute(0, 3, 1, 2).float(), 341, 256)[:, :, 16:240, 58:282]
        return ((x / 255 - mean) / std).contiguous()

    def w4(src):
        g = gray(src.permute(0, 3, 1, 2).float())
        mix = (0.5 * blur(g, 7) + 0.5 * sobel(g)).round()
        return torch.where(mix > 40, 255.0, 0.0).to(torch.uint8)

    def image(batch, w, h):
        return torch.randint(0, 256, (batch, h, w, 3), dtype=torch.uint8, device="cuda")

    work = {name: (sw, sh, lambda src, w=w, h=h: chain(src, w, h)) for name, (sw, sh, w, h) in CHAINS.items()}
    work |= {"w3": (500, 375, w3), "w4": (1920, 1080, w4)}
    for name, (w, h, run) in work.items():
        for batch in batches:
            src = image(batch, w, h)
            yield name, batch, "PyTorch", median_us(lambda: run(src), torch.cuda.synchronize, seconds)
            if compiled:
                fast = torch.compile(run, mode="max-autotune-no-cudagraphs")
                yield name, batch, "compiled", median_us(lambda: fast(src), torch.cuda.synchronize, seconds)
            del src


def cvcuda_rows(batches, seconds):
    """w1, w2 (with a Laplacian) and w3 (without statistics for each channel) in CV-CUDA."""
    import cvcuda
    import torch

    stream = cvcuda.as_stream(torch.cuda.current_stream())
    alive = []

    def tensor(*shape):
        alive.append(torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda"))
        return cvcuda.as_tensor(alive[-1], "NHWC")

    for name, (sw, sh, w, h) in CHAINS.items():
        for batch in batches:
            src, small = tensor(batch, sh, sw, 3), tensor(batch, h, w, 3)
            gray, soft, edges = (tensor(batch, h, w, 1) for _ in range(3))

            def run():
                cvcuda.resize_into(small, src, cvcuda.Interp.LINEAR, stream=stream)
                cvcuda.cvtcolor_into(gray, small, cvcuda.ColorConversion.RGB2GRAY, stream=stream)
                cvcuda.gaussian_into(soft, gray, (5, 5), (1.1, 1.1), cvcuda.Border.REFLECT101, stream=stream)
                cvcuda.laplacian_into(edges, soft, 3, 1.0, cvcuda.Border.REFLECT101, stream=stream)

            yield name, batch, "CV-CUDA", median_us(run, torch.cuda.synchronize, seconds)
            alive.clear()
    for batch in batches:
        src = tensor(batch, 375, 500, 3)
        how = {"scale": 1 / 255.0, "offset": 0.0}
        size, crop = (341, 256), cvcuda.RectI(58, 16, 224, 224)
        made = {"layout": "NCHW", "data_type": cvcuda.Type.F32}
        out = cvcuda.resize_crop_convert_reformat(src, size, cvcuda.Interp.LINEAR, crop, **made, **how)

        def run():
            into = cvcuda.resize_crop_convert_reformat_into
            into(out, src, size, cvcuda.Interp.LINEAR, (58, 16), stream=stream, **how)

        yield "w3", batch, "CV-CUDA", median_us(run, torch.cuda.synchronize, seconds)
        alive.clear()


def npp_rows(batches):
    """w1 and w2 in NPP, frame after frame as its calls are, by the program beside this file."""
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "npp"
        source = Path(__file__).with_name("npp.cu")
        libraries = [f"-lnpp{part}" for part in ("c", "icc", "ig", "if", "idei")]
        build = [compiler, "-O3", "-std=c++17", "-o", program, source, *libraries]
        made = subprocess.run(build, capture_output=True, text=True)
        if made.returncode:
            raise RuntimeError(made.stderr.strip().splitlines()[0] if made.stderr else "nvcc failed")
        for name, size in CHAINS.items():
            for batch in batches:
                arguments = [program, *map(str, size), str(batch)]
                times = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split()
                yield name, batch, "NPP", float(times[0])
                yield name, batch, "NPP, graph", float(times[1])


def our_rows(mip, batches, seconds):
    for name in ("w1", "w2", "w3", "w4"):
        command = [mip, "bench", "--suite", "edges", "--filter", name, "--device", "cuda", "--json"]
        command += ["--time", str(seconds), "--batch", ",".join(map(str, batches))]
        document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for row in document["results"]:
            how = ("fused" if row["mode"]["fused"] else "unfused") + (", graph" if row["mode"]["replay"] else "")
            # mip tells the time of a frame, copies in GB/s of bytes read and written.
            yield row["workload"], row["batch"], f"mip {how}", row["median_us"] * row["batch"]
            floor = row["bytes"] / row["copy_gb_per_s"] / 1e3 if row["copy_gb_per_s"] else None
            if floor:
                yield row["workload"], row["batch"], "floor", floor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mip", default="target/release/mip", help="our binary")
    parser.add_argument("--batch", default="1,32", help="frames at once, by commas")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each figure")
    parser.add_argument("--compile", action="store_true", help="torch.compile as well, which takes a minute or two")
    arguments = parser.parse_args()
    batches = [int(batch) for batch in arguments.batch.split(",")]
    figures, columns = {}, ["floor"]
    sources = {
        "mip": lambda: our_rows(arguments.mip, batches, arguments.seconds),
        "NPP": lambda: npp_rows(batches),
        "CV-CUDA": lambda: cvcuda_rows(batches, arguments.seconds),
        "PyTorch": lambda: torch_rows(batches, arguments.seconds, arguments.compile),
    }
    for source, rows in sources.items():
        try:
            for name, batch, column, value in rows():
                figures[name, batch, column] = value
                if column not in columns:
                    columns.append(column)
        except Exception as error:  # A peer that is missing or refuses is no reason to lose the others.
            print(f"left out: {source}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    print("| workload | batch | " + " | ".join(f"{column}, us" for column in columns) + " |")
    print("|" + " --- |" * (len(columns) + 2))
    for name, batch in sorted({(name, batch) for name, batch, _ in figures}):
        cells = (figures.get((name, batch, column)) for column in columns)
        print(f"| {name} | {batch} | " + " | ".join("" if cell is None else f"{cell:.1f}" for cell in cells) + " |")


if __name__ == "__main__":
    main()
