#!/usr/bin/env python3
"""Each operator that CV-CUDA or NPP has, by itself, on one GPU: ours beside both, 1080p, in one run.

    pip install torch cvcuda-cu13                    # NPP comes with the CUDA toolkit
    python3 benchmarks/gpu/operators.py --mip target/release/mip [--batch 1,32] [--only resize] [--seconds 0.2] [--json]

Times are microseconds for a whole batch of images that stay on the GPU. NPP's calls for it are captured into a CUDA graph, which is
launched again and again as ours is, so that what it takes Python to make a call does not count; where that is refused, and for
CV-CUDA, which refuses it, they are queued one by one, which the table marks with `*`. NPP has no batches: its calls go over the frames. Ours is `mip bench`, the best of its modes.
Peers compute what is nearest to our definition; where that is another size of window or a part of the work, the name says so.
Results are not compared here; `mip validate` does that for ours.
"""

import argparse
import ctypes
import glob
import json
import subprocess
import sys

W, H = 1920, 1080
R = "1920x1080,rgb,u8"
G = "1920x1080,gray,u8"

# Name, our pipeline, our inputs; peers look the name up.
OURS = [
    ("color_convert bgr", "color_convert to=bgr", [R]),
    ("color_convert gray", "color_convert to=gray", [R]),
    ("color_convert rgba", "color_convert to=rgba", [R]),
    ("color_convert hsv", "color_convert to=hsv", [R]),
    ("color_convert luv", "color_convert to=luv", [R]),
    ("color_convert lab", "color_convert to=lab", [R]),
    ("threshold", "threshold threshold=100", [G]),
    ("invert", "invert", [R]),
    ("absdiff", "absdiff", [R, R]),
    ("add", "arithmetic operation=add", [R, R]),
    ("brightness_contrast", "brightness_contrast brightness=1.2 shift=10", [R]),
    ("gamma", "gamma gamma=0.45", [R]),
    ("color_matrix", "color_matrix matrix=[0.393,0.769,0.189,0.349,0.686,0.168,0.272,0.534,0.131]", [R]),
    ("cast to f32", "cast to=f32", [R]),
    ("normalize", "normalize", [R]),
    ("layout chw", "layout to=chw", [R]),
    ("merge", "merge", [G, G, G]),
    ("composite", "composite", ["1920x1080,rgba,u8", R]),
    ("flip horizontal", "flip", [R]),
    ("rotate90", "rotate90 direction=cw", [R]),
    ("transpose", "transpose", [R]),
    ("pad reflect", "pad left=32 top=32 right=32 bottom=32 border=reflect101", [R]),
    ("crop", "crop x=17 y=17 width=1280 height=720", [R]),
    ("resize 2/3", "resize width=1280 height=720", [R]),
    ("resize nearest 2/3", "resize width=1280 height=720 filter=nearest", [R]),
    ("resize bicubic 2/3", "resize width=1280 height=720 filter=bicubic", [R]),
    ("resize area 1/3", "resize width=640 height=360 filter=area", [R]),
    ("resize lanczos3 2/3", "resize width=1280 height=720 filter=lanczos3", [R]),
    ("resize x2", "resize width=1920 height=1080", ["960x540,rgb,u8"]),
    ("warp_affine", "warp_affine matrix=[0.866,0.5,-141,-0.5,0.866,552]", [R]),
    ("warp_affine nearest", "warp_affine matrix=[0.866,0.5,-141,-0.5,0.866,552] filter=nearest", [R]),
    ("warp_perspective", "warp_perspective matrix=[1.1,0.2,-100,0.1,0.9,50,0.00001,-0.000004,1]", [R]),
    ("remap", "remap", [R, "1920x1080,gray,f32", "1920x1080,gray,f32"]),
    ("demosaic", "demosaic", [G]),
    ("box_blur 5", "box_blur kernel=5", [R]),
    ("box_blur 15", "box_blur kernel=15", [R]),
    ("gaussian_blur 3", "gaussian_blur kernel=3", [R]),
    ("gaussian_blur 5", "gaussian_blur kernel=5", [R]),
    ("gaussian_blur 7", "gaussian_blur kernel=7", [R]),
    ("gaussian_blur 15", "gaussian_blur kernel=15", [R]),
    ("median 3", "median", [R]),
    ("median 5", "median kernel=5", [R]),
    ("erode 3", "erode", [R]),
    ("dilate 7", "dilate kernel=7", [R]),
    ("laplacian 3", "laplacian kernel=3 to=i16", [G]),
    ("bilateral 5", "bilateral diameter=5 sigma_color=30 sigma_space=3", [G]),
    ("filter2d 5", "filter2d weights=[" + ",".join(f"{0.01 * (i % 7) - 0.02:.2f}" for i in range(25)) + "]", [R]),
    ("adaptive_threshold 11", "adaptive_threshold kernel=11", [G]),
    ("canny", "canny low=40 high=110", [G]),
    ("label", "label", [G]),
    ("equalize_hist", "equalize_hist", [G]),
    ("clahe", "clahe clip_limit=2", [G]),
    ("histogram", "histogram", [G]),
    ("integral", "integral", [G]),
]


def ours(mip, line, inputs, batches, seconds):
    """Microseconds of a whole batch, the best mode of each size of batch."""
    command = [mip, "bench", "--device", "cuda", "--json", "--time", str(seconds), "--batch", ",".join(map(str, batches))]
    if len(inputs) > 1:
        names = [f"i{n}" for n in range(len(inputs))]
        line = f"inputs={','.join(names)} ! {line} inputs={','.join('@' + name for name in names)}"
        inputs = [f"{name}={shape}" for name, shape in zip(names, inputs)]
    for shape in inputs:
        command += ["--size", shape]
    done = subprocess.run([*command, "-e", line], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else done.stdout[-300:])
    best = {}
    for row in json.loads(done.stdout)["results"]:
        time = row["median_us"] * row["batch"]
        best[row["batch"]] = min(best.get(row["batch"], time), time)
    return best


def noise(shape, dtype=None):
    """Bytes without a pattern, as numbers of a type. From one supply: after a capture that was refused, PyTorch makes no more."""
    import torch

    global supply
    if supply is None:
        supply = torch.randint(0, 256, (16 << 20,), dtype=torch.uint8, device="cuda")
    count = 1
    for side in shape:
        count *= side
    made = supply[:count] if count <= len(supply) else supply.repeat(-(-count // len(supply)))[:count]
    return made.reshape(shape).to(dtype or torch.uint8, copy=True)


supply = None


def timed(call, seconds, capture):
    """Microseconds of a call, from events around many launches of its graph; the second says whether there is a graph."""
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call(stream)
    stream.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def around(work, count):
        with torch.cuda.stream(stream):
            start.record()
            for _ in range(count):
                work()
            end.record()
        stream.synchronize()
        return start.elapsed_time(end) * 1e3 / count

    captured = capture
    try:
        if not capture:
            raise RuntimeError("asked for")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            call(torch.cuda.current_stream())
        work = graph.replay
    except Exception:  # Whatever a library does that a capture refuses.
        torch.cuda.synchronize()
        work, captured = (lambda: call(stream)), False
    once = max(around(work, 3), 1.0)
    count = max(2, int(seconds / 5 * 1e6 / once))
    return sorted(around(work, count) for _ in range(5))[2], captured


def cvcuda_calls(batch):
    """Name to a call with a stream."""
    import cvcuda
    import numpy as np
    import torch

    def tensor(channels=3, width=W, height=H, dtype=torch.uint8, layout="NHWC"):
        shape = (batch, height, width, channels) if layout == "NHWC" else (batch, channels, height, width)
        return cvcuda.as_tensor(noise(shape, dtype), layout)

    def vector(values, dtype=torch.float32):
        return cvcuda.as_tensor(torch.tensor(values, dtype=dtype, device="cuda"), "N")

    rgb, rgb2, gray, small = tensor(), tensor(), tensor(1), tensor(width=1280, height=720)
    code, border, interp = cvcuda.ColorConversion, cvcuda.Border, cvcuda.Interp
    into = {}

    def add(name, call):
        """`call` makes the destination, which lives as long as the call, and gives what fills it."""
        try:
            run = call()
            into[name] = lambda stream: run(cvcuda.as_stream(stream.cuda_stream))
        except Exception as error:
            print(f"CV-CUDA, {name}: {error}", file=sys.stderr)

    def unary(name, function, src, dst, *arguments, **options):
        add(name, lambda: lambda stream: function(dst, src, *arguments, stream=stream, **options))

    unary("color_convert bgr", cvcuda.cvtcolor_into, rgb, tensor(), code.RGB2BGR)
    unary("color_convert gray", cvcuda.cvtcolor_into, rgb, tensor(1), code.RGB2GRAY)
    unary("color_convert rgba", cvcuda.cvtcolor_into, rgb, tensor(4), code.RGB2RGBA)
    unary("color_convert hsv", cvcuda.cvtcolor_into, rgb, tensor(), code.RGB2HSV)
    limit, most = vector([100.0] * batch, torch.float64), vector([255.0] * batch, torch.float64)
    unary("threshold", cvcuda.threshold_into, gray, tensor(1), limit, most, cvcuda.ThresholdType.BINARY)
    unary("invert", cvcuda.invert_into, rgb, tensor())
    unary("brightness_contrast", cvcuda.brightness_contrast_into, rgb, tensor(), 1.2, 1.0, 10.0, 0.0)
    unary("gamma", cvcuda.gamma_contrast_into, rgb, tensor(), 0.45)
    twist = cvcuda.as_tensor(noise((batch, 3, 4) if batch > 1 else (3, 4), torch.float32) / 600, "NHW" if batch > 1 else "HW")
    unary("color_matrix", cvcuda.color_twist_into, rgb, tensor(), twist)
    unary("cast to f32", cvcuda.convertto_into, rgb, tensor(dtype=torch.float32), 1 / 255.0, 0.0)
    base = cvcuda.as_tensor(noise((1, 1, 1, 3), torch.float32) / 256, "NHWC")
    unary("normalize", cvcuda.normalize_into, rgb, tensor(dtype=torch.float32), base, base, 0, globalscale=1 / 255.0)
    unary("layout chw", cvcuda.reformat_into, rgb, tensor(layout="NCHW"))
    mask = tensor(1)
    add("composite", lambda: lambda stream, dst=tensor(): cvcuda.composite_into(dst, rgb, rgb2, mask, stream=stream))
    unary("flip horizontal", cvcuda.flip_into, rgb, tensor(), 1)
    unary("rotate90", cvcuda.rotate_into, rgb, tensor(width=H, height=W), 90.0, (0.0, 1919.0), interp.NEAREST)
    unary("pad reflect", cvcuda.copymakeborder_into, rgb, tensor(width=W + 64, height=H + 64), border.REFLECT101, top=32, left=32)
    unary("crop", cvcuda.customcrop_into, rgb, tensor(width=1280, height=720), cvcuda.RectI(17, 17, 1280, 720))
    unary("resize 2/3", cvcuda.resize_into, rgb, tensor(width=1280, height=720), interp.LINEAR)
    unary("resize nearest 2/3", cvcuda.resize_into, rgb, tensor(width=1280, height=720), interp.NEAREST)
    unary("resize bicubic 2/3", cvcuda.resize_into, rgb, tensor(width=1280, height=720), interp.CUBIC)
    unary("resize area 1/3", cvcuda.resize_into, rgb, tensor(width=640, height=360), interp.AREA)
    unary("resize lanczos3 2/3", cvcuda.hq_resize_into, rgb, tensor(width=1280, height=720), interpolation=interp.LANCZOS)
    unary("resize x2", cvcuda.resize_into, tensor(width=960, height=540), tensor(), interp.LINEAR)
    affine = np.array([[0.866, 0.5, -141], [-0.5, 0.866, 552]], np.float32)
    black = {"border_mode": border.CONSTANT, "border_value": np.zeros(4, np.float32)}
    unary("warp_affine", cvcuda.warp_affine_into, rgb, tensor(), affine, interp.LINEAR, **black)
    unary("warp_affine nearest", cvcuda.warp_affine_into, rgb, tensor(), affine, interp.NEAREST, **black)
    projective = np.array([[1.1, 0.2, -100], [0.1, 0.9, 50], [1e-5, -4e-6, 1]], np.float32)
    unary("warp_perspective", cvcuda.warp_perspective_into, rgb, tensor(), projective, interp.LINEAR, **black)
    map_ = cvcuda.as_tensor(noise((batch, H, W, 2), torch.float32) * 4, "NHWC")
    unary("remap", cvcuda.remap_into, rgb, tensor(), map_, interp.LINEAR, interp.NEAREST, cvcuda.Remap.ABSOLUTE)
    unary("box_blur 5", cvcuda.averageblur_into, rgb, tensor(), (5, 5), (-1, -1), border.REFLECT101)
    unary("box_blur 15", cvcuda.averageblur_into, rgb, tensor(), (15, 15), (-1, -1), border.REFLECT101)
    for size in (3, 5, 7, 15):
        sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8
        unary(f"gaussian_blur {size}", cvcuda.gaussian_into, rgb, tensor(), (size, size), (sigma, sigma), border.REFLECT101)
    unary("median 3", cvcuda.median_blur_into, rgb, tensor(), (3, 3))
    unary("median 5", cvcuda.median_blur_into, rgb, tensor(), (5, 5))
    unary("erode 3", cvcuda.morphology_into, rgb, tensor(), cvcuda.MorphologyType.ERODE, (3, 3), (-1, -1), border=border.REPLICATE)
    unary("dilate 7", cvcuda.morphology_into, rgb, tensor(), cvcuda.MorphologyType.DILATE, (7, 7), (-1, -1), border=border.REPLICATE)
    unary("laplacian 3", cvcuda.laplacian_into, gray, tensor(1), 3, 1.0, border.REFLECT101)
    unary("bilateral 5", cvcuda.bilateral_filter_into, gray, tensor(1), 5, 30.0, 3.0, border.REFLECT101)
    mean, binary = cvcuda.AdaptiveThresholdType.MEAN_C, cvcuda.ThresholdType.BINARY
    unary("adaptive_threshold 11", cvcuda.adaptivethreshold_into, gray, tensor(1), 255.0, mean, binary, 11, 2.0)
    labels = tensor(1, dtype=torch.int32)
    add("label", lambda: lambda stream: cvcuda.label_into(labels, src=gray, connectivity=cvcuda.ConnectivityType.CONNECTIVITY_8_2D, stream=stream))
    unary("equalize_hist", cvcuda.histogrameq_into, gray, tensor(1))
    unary("clahe", cvcuda.clahe_into, gray, tensor(1), 2.0, (8, 8))
    counts = cvcuda.as_tensor(torch.zeros((batch, 256, 1), dtype=torch.int32, device="cuda"), "HWC")
    add("histogram", lambda: lambda stream: cvcuda.histogram_into(counts, gray, None, stream=stream))
    return into, (rgb, rgb2, gray, small)


class Context(ctypes.Structure):
    """NppStreamContext."""

    _fields_ = [("stream", ctypes.c_void_p)] + [(name, ctypes.c_int) for name in ("device", "processors", "threads", "block")]
    _fields_ += [("shared", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int), ("flags", ctypes.c_uint), ("reserved", ctypes.c_int)]


class Pair(ctypes.Structure):
    """NppiSize and NppiPoint."""

    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class Rect(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("x", "y", "width", "height")]


def npp_functions():
    libraries = []
    for part in ("c", "ial", "icc", "idei", "if", "ig", "im", "ist", "itc"):
        names = sorted(glob.glob(f"/usr/local/cuda*/lib64/libnpp{part}.so.1?")) + sorted(glob.glob(f"/usr/local/cuda*/targets/*/lib/libnpp{part}.so.1?"))
        libraries.append(ctypes.CDLL(names[-1] if names else f"libnpp{part}.so"))

    def find(name):
        for library in libraries:
            if hasattr(library, name):
                return getattr(library, name)
        raise AttributeError(f"NPP has no {name}")

    return find


def npp_calls(batch):
    import torch

    find = npp_functions()
    properties = torch.cuda.get_device_properties(0)
    kept = []

    def context(stream):
        major, minor = torch.cuda.get_device_capability()
        return Context(stream.cuda_stream, 0, properties.multi_processor_count, 2048, 1024, 49152, major, minor, 0, 0)

    def plane(channels=3, width=W, height=H, dtype=torch.uint8):
        kept.append(noise((batch, height, width * channels), dtype))
        return kept[-1]

    def image(t, frame):
        return ctypes.c_void_p(t[frame].data_ptr()), ctypes.c_int(t.stride(1) * t.element_size())

    calls = {}

    def add(name, function, arguments):
        """`arguments` of a frame, all but the context."""
        try:
            call = find(function + "_Ctx")
            frames = [arguments(frame) for frame in range(batch)]
            first = call(*frames[0], context(torch.cuda.current_stream()))
            if first:
                raise RuntimeError(f"status {first}")

            def run(stream):
                with_stream = context(stream)
                for arguments in frames:
                    call(*arguments, with_stream)

            calls[name] = run
        except Exception as error:
            print(f"NPP, {name}: {error}", file=sys.stderr)

    def scratch(function, *arguments):
        size = ctypes.c_int(0)
        find(function)(*arguments, ctypes.byref(size), *([context(torch.cuda.current_stream())] if function.endswith("_Ctx") else []))
        kept.append(torch.empty(max(size.value, 16), dtype=torch.uint8, device="cuda"))
        return ctypes.c_void_p(kept[-1].data_ptr())

    rgb, rgb2, gray, out, out1 = plane(), plane(), plane(1), plane(), plane(1)
    size, zero, replicate = Pair(W, H), Pair(0, 0), ctypes.c_int(2)
    u8 = ctypes.c_ubyte
    order, order4 = (ctypes.c_int * 3)(2, 1, 0), (ctypes.c_int * 4)(0, 1, 2, 3)
    rgba, f32, wide = plane(4), plane(dtype=torch.float32), plane(1, dtype=torch.int16)

    def unary(name, function, src=rgb, dst=out, extra=()):
        add(name, function, lambda n: (*image(src, n), *image(dst, n), size, *extra))

    def window(name, function, src=rgb, dst=out, extra=(), border=replicate):
        add(name, function, lambda n: (*image(src, n), size, zero, *image(dst, n), size, *extra, border))

    unary("color_convert bgr", "nppiSwapChannels_8u_C3R", extra=(order,))
    unary("color_convert rgba", "nppiSwapChannels_8u_C3C4R", dst=rgba, extra=(order4, u8(255)))
    unary("color_convert gray", "nppiRGBToGray_8u_C3C1R", dst=out1)
    unary("color_convert hsv", "nppiRGBToHSV_8u_C3R")
    unary("color_convert luv", "nppiRGBToLUV_8u_C3R")
    unary("color_convert lab", "nppiBGRToLab_8u_C3R")
    add("threshold", "nppiCompareC_8u_C1R", lambda n: (*image(gray, n), u8(100), *image(out1, n), size, ctypes.c_int(4)))
    unary("invert", "nppiNot_8u_C3R")
    add("absdiff", "nppiAbsDiff_8u_C3R", lambda n: (*image(rgb, n), *image(rgb2, n), *image(out, n), size))
    add("add", "nppiAdd_8u_C3RSfs", lambda n: (*image(rgb, n), *image(rgb2, n), *image(out, n), size, ctypes.c_int(0)))
    twist = ((ctypes.c_float * 4) * 3)(*[(ctypes.c_float * 4)(0.3, 0.4, 0.2, 0.0) for _ in range(3)])
    unary("color_matrix", "nppiColorTwist32f_8u_C3R", extra=(twist,))
    unary("cast to f32", "nppiConvert_8u32f_C3R", dst=f32)
    planes = [plane(1) for _ in range(3)]
    three = lambda n: (ctypes.c_void_p * 3)(*[p[n].data_ptr() for p in planes])
    add("layout chw", "nppiCopy_8u_C3P3R", lambda n: (*image(rgb, n), three(n), ctypes.c_int(W), size))
    add("merge", "nppiCopy_8u_P3C3R", lambda n: (three(n), ctypes.c_int(W), *image(out, n), size))
    unary("flip horizontal", "nppiMirror_8u_C3R", extra=(ctypes.c_int(1),))
    turned = plane(width=H, height=W)
    unary("transpose", "nppiTranspose_8u_C3R", dst=turned)
    cropped = plane(width=1280, height=720)
    add("crop", "nppiCopy_8u_C3R", lambda n: (ctypes.c_void_p(rgb[n].data_ptr() + 17 * W * 3 + 51), ctypes.c_int(W * 3), *image(cropped, n), Pair(1280, 720)))
    padded = plane(width=W + 64, height=H + 64)
    add("pad reflect", "nppiCopyReplicateBorder_8u_C3R", lambda n: (*image(rgb, n), size, *image(padded, n), Pair(W + 64, H + 64), ctypes.c_int(32), ctypes.c_int(32)))
    whole = Rect(0, 0, W, H)

    def resize(name, width, height, how, src=rgb, source=(W, H)):
        dst = plane(width=width, height=height)
        area, to = Rect(0, 0, *source), Rect(0, 0, width, height)
        add(name, "nppiResize_8u_C3R", lambda n: (*image(src, n), Pair(*source), area, *image(dst, n), Pair(width, height), to, ctypes.c_int(how)))

    resize("resize 2/3", 1280, 720, 2)
    resize("resize nearest 2/3", 1280, 720, 1)
    resize("resize bicubic 2/3", 1280, 720, 4)
    resize("resize area 1/3", 640, 360, 8)
    resize("resize lanczos3 2/3", 1280, 720, 16)
    resize("resize x2", W, H, 2, plane(width=960, height=540), (960, 540))
    matrix = ((ctypes.c_double * 3) * 2)((0.866, 0.5, -141), (-0.5, 0.866, 552))
    for name, how in (("warp_affine", 2), ("warp_affine nearest", 1)):
        add(name, "nppiWarpAffine_8u_C3R", lambda n, how=how: (*image(rgb, n)[:1], size, image(rgb, n)[1], whole, *image(out, n), whole, matrix, ctypes.c_int(how)))
    matrix3 = ((ctypes.c_double * 3) * 3)((1.1, 0.2, -100), (0.1, 0.9, 50), (1e-5, -4e-6, 1))
    add("warp_perspective", "nppiWarpPerspective_8u_C3R", lambda n: (*image(rgb, n)[:1], size, image(rgb, n)[1], whole, *image(out, n), whole, matrix3, ctypes.c_int(2)))
    maps = [plane(1, dtype=torch.float32) for _ in range(2)]
    add("remap", "nppiRemap_8u_C3R", lambda n: (*image(rgb, n)[:1], size, image(rgb, n)[1], whole, *image(maps[0], n), *image(maps[1], n), *image(out, n), size, ctypes.c_int(2)))
    add("demosaic", "nppiCFAToRGB_8u_C1C3R", lambda n: (*image(gray, n), size, whole, *image(out, n), ctypes.c_int(1), ctypes.c_int(0)))
    for side in (5, 15):
        window(f"box_blur {side}", "nppiFilterBoxBorder_8u_C3R", extra=(Pair(side, side), Pair(side // 2, side // 2)))
    for side, mask in ((3, 200), (5, 201), (7, 400), (15, 800)):
        window(f"gaussian_blur {side}", "nppiFilterGaussBorder_8u_C3R", extra=(ctypes.c_int(mask),))
    for side in (3, 5):
        buffer = scratch("nppiFilterMedianGetBufferSize_8u_C3R_Ctx", size, Pair(side, side))
        inner = Pair(W - side + 1, H - side + 1)
        start = (side // 2) * (3 * W + 3)
        add(f"median {side}", "nppiFilterMedian_8u_C3R", lambda n, side=side, buffer=buffer, inner=inner, start=start: (ctypes.c_void_p(rgb[n].data_ptr() + start), ctypes.c_int(3 * W), *image(out, n), inner, Pair(side, side), Pair(side // 2, side // 2), buffer))
    window("erode 3", "nppiErode3x3Border_8u_C3R")
    ones = torch.ones(49, dtype=torch.uint8, device="cuda")
    kept.append(ones)
    window("dilate 7", "nppiDilateBorder_8u_C3R", extra=(ctypes.c_void_p(ones.data_ptr()), Pair(7, 7), Pair(3, 3)))
    window("laplacian 3", "nppiFilterLaplaceBorder_8u16s_C1R", gray, wide, (ctypes.c_int(200),))
    window("bilateral 5", "nppiFilterBilateralGaussBorder_8u_C1R", gray, out1, (ctypes.c_int(2), ctypes.c_int(1), ctypes.c_float(900.0), ctypes.c_float(9.0)))
    weights = noise((25,), torch.float32) / 6400
    kept.append(weights)
    window("filter2d 5", "nppiFilterBorder32f_8u_C3R", extra=(ctypes.c_void_p(weights.data_ptr()), Pair(5, 5), Pair(2, 2)))
    window("adaptive_threshold 11", "nppiFilterThresholdAdaptiveBoxBorder_8u_C1R", gray, out1, (Pair(11, 11), ctypes.c_float(2.0), u8(255), u8(0)))
    buffer = scratch("nppiFilterCannyBorderGetBufferSize", size)
    canny = (ctypes.c_int(0), ctypes.c_int(200), ctypes.c_short(40), ctypes.c_short(110), ctypes.c_int(2), replicate, buffer)
    add("canny", "nppiFilterCannyBorder_8u_C1R", lambda n: (*image(gray, n), size, zero, *image(out1, n), size, *canny))
    labels = plane(1, dtype=torch.int32)
    buffer2 = scratch("nppiLabelMarkersUFGetBufferSize_32u_C1R", size)
    add("label", "nppiLabelMarkersUF_8u32u_C1R", lambda n: (*image(gray, n), *image(labels, n), size, ctypes.c_int(0), buffer2))
    levels = ctypes.c_int(257)
    buffer3 = scratch("nppiHistogramEvenGetBufferSize_8u_C1R_Ctx", size, levels)
    counts = torch.zeros((batch, 256), dtype=torch.int32, device="cuda")
    kept.append(counts)
    add("histogram", "nppiHistogramEven_8u_C1R", lambda n: (*image(gray, n), size, ctypes.c_void_p(counts[n].data_ptr()), levels, ctypes.c_int(0), ctypes.c_int(256), buffer3))
    sums = torch.zeros((batch, H + 1, W + 1), dtype=torch.int32, device="cuda")
    kept.append(sums)
    add("integral", "nppiIntegral_8u32s_C1R", lambda n: (*image(gray, n), ctypes.c_void_p(sums[n].data_ptr()), ctypes.c_int(4 * (W + 1)), size, ctypes.c_int(0)))
    return calls, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mip", default="target/release/mip", help="our binary")
    parser.add_argument("--batch", default="1,32", help="frames at once, by commas")
    parser.add_argument("--only", default="", help="operators whose name contains this")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each figure")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    batches = [int(batch) for batch in arguments.batch.split(",")]
    chosen = [row for row in OURS if arguments.only in row[0]]
    rows = {(name, batch): {} for name, _, _ in chosen for batch in batches}
    for peer, calls in (("CV-CUDA", cvcuda_calls), ("NPP", npp_calls)):
        for batch in batches:
            try:
                made, alive = calls(batch)
            except Exception as error:  # A peer that is missing is no reason to lose the others.
                print(f"left out: {peer}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
                break
            for name, _, _ in chosen:
                if name in made:
                    try:
                        rows[name, batch][peer] = timed(made[name], arguments.seconds, peer == "NPP")
                    except Exception as error:
                        print(f"{peer}, {name}: {error}", file=sys.stderr)
            del made, alive
            import torch

            torch.cuda.empty_cache()
    for name, line, inputs in chosen:
        try:
            for batch, time in ours(arguments.mip, line, inputs, batches, arguments.seconds).items():
                rows[name, batch]["ours"] = time
        except Exception as error:
            print(f"ours, {name}: {error}", file=sys.stderr)
        if not arguments.json:
            for batch in batches:
                print(text(name, batch, rows[name, batch]), flush=True)
    if arguments.json:
        print(json.dumps([{"operator": name, "batch": batch, **row} for (name, batch), row in rows.items()], indent=1))


def text(name, batch, row):
    """A line of the table: us, and how many times as fast ours is as the faster peer."""
    cell = lambda peer: f"{row[peer][0]:.1f}{'' if row[peer][1] else '*'}" if peer in row else ""
    peers = [row[peer][0] for peer in ("CV-CUDA", "NPP") if peer in row]
    ratio = f"{min(peers) / row['ours']:.2f}" if peers and "ours" in row else ""
    mine = f"{row['ours']:.1f}" if "ours" in row else ""
    return f"| {name} | {batch} | {mine} | {cell('CV-CUDA')} | {cell('NPP')} | {ratio} |"


if __name__ == "__main__":
    main()
