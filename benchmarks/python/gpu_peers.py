#!/usr/bin/env python3
"""On an NVIDIA GPU, in turns in one process: a folder of 1080p JPEGs to normalised tensors on the GPU, and w3 over tensors that are there.

    MIP_PYTHON_RELEASE=1 bash .ci/python.sh && cargo build --release -p mip-cli
    python -m pip install torch torchvision cvcuda-cu13 nvidia-nvimgcodec-cu13 nvidia-nvjpeg nvidia-dali-cuda130     # as far as wanted
    python benchmarks/python/gpu_peers.py [--images 512] [--rounds 7] [--mip target/release/mip]

`jpeg`: files to (3, 224, 224) of float32: decoded, shorter side 256, cut, normalised, planar; images a second. `w3`: the same from (375, 500, 3)
of bytes on the GPU, one and 32 at once; microseconds a call. What cannot run is named as skipped, with the reason. The table has the best and the
median of the rounds, whether the resize is antialiased (only such rows do the same work), and how far a normalised sample is from our result on the
CPU: decoders and resizes of others differ a little, and a large number says that something else was computed.

`mip run --decode gpu` is a process that writes to a file: its rate is that of the files which a run of four times as many takes longer for.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mini_image_pipe as mip
import numpy as np
from peers import MEAN, STD, draw

BATCH = 32


def line(antialias):
    text = f"resize shorter_side=256 antialias={'true' if antialias else 'false'} ! crop width=224 height=224 center=true"
    return text + f" ! normalize mean={list(MEAN)} std={list(STD)} ! layout to=chw".replace(", ", ",")


def batches(paths):
    return [paths[start : start + BATCH] for start in range(0, len(paths), BATCH)]


def torchvision_decoder():
    from torchvision import io

    return lambda part: io.decode_jpeg([io.read_file(str(path)) for path in part], mode=io.ImageReadMode.RGB, device="cuda")


# Each of these makes a function of no arguments that gives one tensor of all images, or raises what is missing. `given` is a list of
# files, or a tensor (count, height, width, 3) on the GPU.


def ours(antialias, decoder=None):
    def make(given):
        import torch

        pipe = mip.Pipeline(line(antialias), device="cuda", max_batch_size=BATCH)
        if not isinstance(given, list):
            one = lambda: pipe(given[0]).torch()[None]  # noqa: E731: a view, nothing is copied
            return one if len(given) == 1 else lambda: pipe.run_batch(given, stack=True).torch()
        if decode := decoder and decoder():
            return lambda: torch.stack([pipe(image, layout="chw").torch() for part in batches(given) for image in decode(part)])
        pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        return lambda: torch.stack([pipe(torch.from_numpy(array).cuda()).torch() for array in pool.map(mip.open, given)])

    return make


def ours_alone(antialias):
    def make(given):
        if not isinstance(given, list):
            return None
        import torch

        pipe = mip.Pipeline(line(antialias), device="cuda", max_batch_size=BATCH)
        # Three threads keep the engines of a GPU at work; a fourth reads meanwhile.
        pool = ThreadPoolExecutor(4)
        tensors = lambda part: pipe.run_batch(pipe.decode(part), stack=True).torch()  # noqa: E731
        return lambda: torch.cat(list(pool.map(tensors, batches(given))))

    return make


def torchvision(given):
    import torch
    from torchvision.transforms import v2

    to_floats = v2.ToDtype(torch.float32, scale=True)
    chain = v2.Compose([v2.Resize(256, antialias=True), v2.CenterCrop(224), to_floats, v2.Normalize(MEAN, STD)])
    if not isinstance(given, list):
        return lambda: chain(given.permute(0, 3, 1, 2))
    decode = torchvision_decoder()
    return lambda: torch.cat([chain(torch.stack(decode(part))) for part in batches(given)])


def cv_cuda(given):
    import cvcuda
    import torch

    values = [torch.tensor(three, dtype=torch.float32, device="cuda").reshape(1, 1, 1, 3) for three in (MEAN, STD)]
    mean, std = (cvcuda.as_tensor(three, "NHWC") for three in values)

    def chain(images):
        stream = cvcuda.as_stream(torch.cuda.current_stream())
        height, width = images.shape[1:3]
        small = (round(width * 256 / min(width, height)), round(height * 256 / min(width, height)))
        where = cvcuda.RectI((small[0] - 224) // 2, (small[1] - 224) // 2, 224, 224)
        resized = cvcuda.resize(cvcuda.as_tensor(images, "NHWC"), (len(images), small[1], small[0], 3), cvcuda.Interp.LINEAR, stream=stream)
        cut = cvcuda.customcrop(resized, where, stream=stream)
        floats = cvcuda.convertto(cut, cvcuda.Type.F32, 1 / 255, stream=stream)
        normal = cvcuda.normalize(floats, mean, std, cvcuda.NormalizeFlags.SCALE_IS_STDDEV, stream=stream)
        return torch.as_tensor(cvcuda.reformat(normal, "NCHW", stream=stream).cuda(), device="cuda")

    if not isinstance(given, list):
        return lambda: chain(given)
    from nvidia import nvimgcodec

    decoder = nvimgcodec.Decoder(device_id=0)

    def decoded(part):
        images = decoder.decode([path.read_bytes() for path in part], cuda_stream=torch.cuda.current_stream().cuda_stream)
        if any(image is None for image in images):
            raise RuntimeError("nvImageCodec has not decoded every file")
        return torch.stack([torch.as_tensor(image, device="cuda") for image in images])

    return lambda: torch.cat([chain(decoded(part)) for part in batches(given)])


def dali(given):
    import torch
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import feed_ndarray

    if not isinstance(given, list):
        return None  # its pipelines read for themselves

    @pipeline_def(batch_size=BATCH, num_threads=len(os.sched_getaffinity(0)), device_id=0)
    def tensors():
        data, _ = fn.readers.file(files=[str(path) for path in given], name="files")
        images = fn.decoders.image(data, device="mixed", output_type=types.RGB)
        small = fn.resize(images, resize_shorter=256, interp_type=types.INTERP_LINEAR, antialias=True)
        as_floats = {"mean": [m * 255 for m in MEAN], "std": [s * 255 for s in STD], "dtype": types.FLOAT, "output_layout": "CHW"}
        return fn.crop_mirror_normalize(small, crop=(224, 224), **as_floats)

    (pipe := tensors()).build()

    def run():
        out = torch.empty((len(given), 3, 224, 224), device="cuda")
        for part in out.split(BATCH):
            feed_ndarray(pipe.run()[0].as_tensor(), part, cuda_stream=torch.cuda.current_stream())
        return out

    return run


# Whether the resize is antialiased, and what makes it.
PROGRAMS = {
    "ours": (False, ours(False)),
    "ours, antialiased": (True, ours(True)),
    "ours, Pipeline.decode": (False, ours_alone(False)),
    "ours, antialiased, Pipeline.decode": (True, ours_alone(True)),
    "ours, torchvision decodes": (False, ours(False, torchvision_decoder)),
    "ours, antialiased, torchvision decodes": (True, ours(True, torchvision_decoder)),
    "torchvision": (True, torchvision),
    "nvImageCodec, CV-CUDA": (False, cv_cuda),
    "DALI": (True, dali),
}


def references(arrays):
    """Our results on the CPU, by whether the resize is antialiased."""
    pipes = {antialias: mip.Pipeline(line(antialias), device="cpu") for antialias in (False, True)}
    return {antialias: np.stack([pipe(array) for array in arrays]) for antialias, pipe in pipes.items()}


def measure(torch, name, given, expected, rounds, unit, skipped):
    """Takes turns; prints a line for each program."""
    runs, apart, times = {}, {}, {}
    for program, (antialias, make) in PROGRAMS.items():
        if "decodes" in program and not isinstance(given, list):
            continue
        try:
            if (run := make(given)) is None:
                continue
            some = run()[:BATCH].cpu().numpy()  # compiles, allocates, opens libraries
            apart[program] = float(np.abs(some - expected[antialias][: len(some)]).max())
            runs[program], times[program] = run, []
        except Exception as error:  # A peer that is missing or refuses is no reason to lose the others.
            skipped.append(f"{name}: {program}: {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}")
    calls = 1 if isinstance(given, list) else 200
    for _ in range(rounds):
        for program, run in runs.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                run()
            torch.cuda.synchronize()
            times[program].append((time.perf_counter() - start) / calls)
    for program, taken in times.items():
        how = "antialiased" if PROGRAMS[program][0] else "not antialiased"
        print(f"{name:10} {program:40} {unit(min(taken)):10.1f} {unit(statistics.median(taken)):10.1f}  {how:16} {apart[program]:.3f}", flush=True)


def command_line(binary, folder, rounds, skipped):
    """Images a second of `mip run --decode gpu`, by what three more folders' worth of files takes."""
    if not Path(binary).exists():
        skipped.append(f"jpeg: mip run --decode gpu: {binary} is not built: cargo build --release -p mip-cli")
        return
    paths, more, rates = sorted(folder.glob("*.jpg")), folder.with_name("more"), []
    more.mkdir()
    for number, path in enumerate(4 * paths):
        os.link(path, more / f"{number:05}.jpg")
    for _ in range(min(rounds, 3)):
        taken = []
        for source in (folder, more):
            command = [binary, "run", "-e", line(False), source, "-o", folder.with_name("out.npy"), "--device", "cuda", "--decode", "gpu"]
            start = time.perf_counter()
            ended = subprocess.run(command, capture_output=True, text=True)
            taken.append(time.perf_counter() - start)
            if ended.returncode:
                skipped.append(f"jpeg: mip run --decode gpu: {(ended.stderr.strip().splitlines() or ['no reason given'])[-1]}")
                return
        rates.append(3 * len(paths) / (taken[1] - taken[0]))
    print(f"{'jpeg':10} {'mip run --decode gpu':40} {max(rates):10.1f} {statistics.median(rates):10.1f}  not antialiased", flush=True)


def why_not():
    """Why nothing can be measured here, if so."""
    gpus = [device for device in mip.devices() if device["device"] != "cpu"]
    if not any(device["available"] for device in gpus):
        return f"no GPU: {gpus[0]['reason']}"
    try:
        import torch
    except ImportError as missing:
        return f"no PyTorch ({missing}), whose tensors all of them give"
    return None if torch.cuda.is_available() else "no GPU that PyTorch can use"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=512, help=f"a multiple of {BATCH}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mip", default="target/release/mip", help="our binary")
    options = parser.parse_args()
    if reason := why_not():
        for program in [*PROGRAMS, "mip run --decode gpu"]:
            print(f"skipped: {program}: {reason}")
        return
    import torch

    skipped = []
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} cores")
    print(f"{'workload':10} {'program':40} {'best':>10} {'median':>10}  {'resize':16} differs by (images/s of jpeg, us a call of w3)")
    noise = np.random.default_rng(1).integers(0, 256, (BATCH, 375, 500, 3), dtype=np.uint8)
    for count in (1, BATCH):
        given, expected = torch.from_numpy(noise[:count]).cuda(), references(noise[:count])
        measure(torch, f"w3, {count}", given, expected, options.rounds, lambda seconds: seconds * 1e6, skipped)
    with tempfile.TemporaryDirectory(prefix="gpu-peers-") as within:
        (folder := Path(within) / "jpegs").mkdir()
        draw(folder, options.images)
        paths = sorted(folder.glob("*.jpg"))
        expected = references([mip.open(path) for path in paths[:BATCH]])
        measure(torch, "jpeg", paths, expected, options.rounds, lambda seconds: len(paths) / seconds, skipped)
        command_line(options.mip, folder, options.rounds, skipped)
    for reason in skipped:
        print("skipped:", reason)


if __name__ == "__main__":
    main()
