#!/usr/bin/env python3
"""Every operator that OpenCV has, by itself, on the CPU: ours against OpenCV's, 1080p, in turns.

    pip install numpy opencv-python-headless && (cd crates/python && maturin develop --release)
    python3 benchmarks/cpu/operators.py [--threads 1,2] [--rounds 9] [--only resize] [--json]

Both write into memory that is there already (ours from its pool), both are called from Python, which costs each some
microseconds. OpenCV computes what is nearest to our definition; the pages of the operators say where they differ. The number is
the median over rounds of (OpenCV's time / ours): above 1 ours is faster.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

W, H = 1920, 1080


def cases():
    import cv2
    import numpy as np

    rng = np.random.default_rng(1)
    low = rng.integers(0, 256, (H // 8, W // 8, 3), np.uint8)
    noise = rng.integers(-12, 13, (H, W, 3))
    rgb = np.clip(cv2.resize(low, (W, H), interpolation=cv2.INTER_CUBIC).astype(int) + noise, 0, 255).astype(np.uint8)
    other = np.ascontiguousarray(rgb[::-1])
    gray, gray2, gray3 = (np.ascontiguousarray(rgb[..., c]) for c in range(3))
    rgba = np.dstack([rgb, gray])
    nv = rng.integers(16, 236, (H // 2, W // 2, 2), np.uint8)
    u, v = (np.ascontiguousarray(nv[..., c]) for c in range(2))
    i420 = np.concatenate([gray.ravel(), u.ravel(), v.ravel()]).reshape(H * 3 // 2, W)
    raw = gray
    mask = cv2.threshold(cv2.GaussianBlur(gray, (0, 0), 3), 128, 255, cv2.THRESH_BINARY)[1]
    small = np.ascontiguousarray(rgb[:540, :960])
    f32 = lambda a: a.astype(np.float32)
    xs, ys = np.meshgrid(np.arange(W, dtype=np.float32), np.arange(H, dtype=np.float32))
    map_x, map_y = xs + 8 * np.sin(ys / 40, dtype=np.float32), ys + 8 * np.cos(xs / 40, dtype=np.float32)
    affine = cv2.getRotationMatrix2D(((W - 1) / 2, (H - 1) / 2), 30, 1.0)
    projective = np.array([[1.1, 0.2, -100], [0.1, 0.9, 50], [1e-5, -4e-6, 1]])
    camera = np.array([[1500, 0, 960], [0, 1500, 540], [0, 0, 1]], float)
    lens = np.array([-0.3, 0.1, 0.001, -0.002])
    sepia = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    text = lambda m: "[" + ",".join(repr(float(x)) for x in np.ravel(m)) + "]"
    kernel = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.float32)
    kernel5 = f32(rng.normal(0, 0.2, (5, 5)))
    clahe = cv2.createCLAHE(2.0, (8, 8))
    curve = np.rint(255 * (np.arange(256) / 255) ** 0.45).astype(np.uint8)

    def square(n):
        return np.ones((n, n), np.uint8)

    buffers = {}

    def dst(name, call):
        """The call writing into what it made the first time."""
        buffers[name] = call(None)
        return lambda: call(buffers[name])

    def edges(image, scharr):
        g = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        derive = (lambda x, y: cv2.Scharr(g, cv2.CV_32F, x, y)) if scharr else (lambda x, y: cv2.Sobel(g, cv2.CV_32F, x, y))
        return cv2.convertScaleAbs(cv2.magnitude(derive(1, 0), derive(0, 1)))

    def planar(image):
        return cv2.dnn.blobFromImage(image, 1 / 255.0, mean=(123.7, 116.3, 103.5))

    def boxed(image):
        inner = cv2.resize(image, (640, 360))
        return cv2.copyMakeBorder(inner, 140, 140, 0, 0, cv2.BORDER_CONSTANT, value=(114, 114, 114))

    list_ = [
        ("absdiff", "absdiff", (rgb, other), lambda d: cv2.absdiff(rgb, other, dst=d)),
        ("arithmetic add", "arithmetic operation=add", (rgb, other), lambda d: cv2.add(rgb, other, dst=d)),
        ("arithmetic multiply", "arithmetic operation=multiply scale=0.004", (rgb, other), lambda d: cv2.multiply(rgb, other, dst=d, scale=0.004)),
        ("arithmetic min", "arithmetic operation=min", (rgb, other), lambda d: cv2.min(rgb, other, dst=d)),
        ("blend", "blend alpha=0.3", (rgb, other), lambda d: cv2.addWeighted(rgb, 0.3, other, 0.7, 0, dst=d)),
        ("invert", "invert", (rgb,), lambda d: cv2.bitwise_not(rgb, dst=d)),
        ("brightness_contrast", "brightness_contrast brightness=1.2 shift=10", (rgb,), lambda d: cv2.convertScaleAbs(rgb, dst=d, alpha=1.2, beta=10)),
        ("threshold", "threshold threshold=100", (gray,), lambda d: cv2.threshold(gray, 100, 255, cv2.THRESH_BINARY, dst=d)[1]),
        ("in_range", "in_range lower=[20,30,40] upper=[200,210,220]", (rgb,), lambda d: cv2.inRange(rgb, (20, 30, 40), (200, 210, 220), dst=d)),
        ("equalize_hist", "equalize_hist", (gray,), lambda d: cv2.equalizeHist(gray, dst=d)),
        ("clahe 2, 8x8", "clahe clip_limit=2", (gray,), lambda d: clahe.apply(gray, d)),
        ("auto_threshold otsu", "auto_threshold", (gray,), lambda d: cv2.threshold(gray, 0, 255, cv2.THRESH_OTSU, dst=d)[1]),
        ("histogram", "histogram", (gray,), lambda d: cv2.calcHist([gray], [0], None, [256], [0, 256])),
        ("stats", "stats", (rgb,), lambda d: cv2.meanStdDev(rgb)),
        ("gamma", "gamma gamma=0.45", (rgb,), lambda d: cv2.LUT(rgb, curve, dst=d)),
        ("to hsv", "color_convert to=hsv", (rgb,), lambda d: cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV, dst=d)),
        ("to lab", "color_convert to=lab", (rgb,), lambda d: cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB, dst=d)),
        ("bilateral 5", "bilateral diameter=5 sigma_color=30 sigma_space=3", (gray,), lambda d: cv2.bilateralFilter(gray, 5, 30, 3, dst=d)),
        ("canny", "canny low=40 high=110", (gray,), lambda d: cv2.Canny(gray, 40, 110, edges=d)),
        ("canny l2", "canny low=40 high=110 l2_gradient=true", (gray,), lambda d: cv2.Canny(gray, 40, 110, edges=d, L2gradient=True)),
        ("label", "label", (mask,), lambda d: cv2.connectedComponentsWithAlgorithm(mask, 8, cv2.CV_32S, cv2.CCL_WU, labels=d)[1]),
        ("label, regions", "label ! regions", (mask,), lambda d: cv2.connectedComponentsWithStats(mask, 8, cv2.CV_32S)[1]),
        ("distance_transform", "distance_transform", (mask,), lambda d: cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, dst=d)),
        ("adaptive_threshold 11", "adaptive_threshold kernel=11", (gray,), lambda d: cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 11, 2, dst=d)),
        ("cast to f32", "cast to=f32", (rgb,), lambda d: cv2.normalize(rgb, d, 0, 1, cv2.NORM_MINMAX, cv2.CV_32F)),
        ("color_convert gray", "color_convert to=gray", (rgb,), lambda d: cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY, dst=d)),
        ("color_convert bgr", "color_convert to=bgr", (rgb,), lambda d: cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR, dst=d)),
        ("color_convert rgba", "color_convert to=rgba", (rgb,), lambda d: cv2.cvtColor(rgb, cv2.COLOR_RGB2RGBA, dst=d)),
        ("color_matrix", f"color_matrix matrix={text(sepia)}", (rgb,), lambda d: cv2.transform(rgb, sepia, dst=d)),
        ("yuv_to_rgb i420", "yuv_to_rgb matrix=601 range=limited", (gray, u, v), lambda d: cv2.cvtColor(i420, cv2.COLOR_YUV2RGB_I420, dst=d)),
        ("demosaic", "demosaic", (raw,), lambda d: cv2.cvtColor(raw, cv2.COLOR_BayerBG2RGB, dst=d)),
        ("merge", "merge", (gray, gray2, gray3), lambda d: cv2.merge([gray, gray2, gray3], d)),
        ("select 1 of 3", "select channels=[1]", (rgb,), lambda d: cv2.extractChannel(rgb, 1, dst=d)),
        ("normalize chw f32", "normalize mean=[0.485,0.456,0.406] std=1 ! layout to=chw", (rgb,), lambda d: planar(rgb)),
        ("flip horizontal", "flip", (rgb,), lambda d: cv2.flip(rgb, 1, dst=d)),
        ("rotate90", "rotate90 direction=cw", (rgb,), lambda d: cv2.rotate(rgb, cv2.ROTATE_90_CLOCKWISE, dst=d)),
        ("transpose", "transpose", (rgb,), lambda d: cv2.transpose(rgb, dst=d)),
        ("pad reflect", "pad left=32 top=32 right=32 bottom=32 border=reflect101", (rgb,), lambda d: cv2.copyMakeBorder(rgb, 32, 32, 32, 32, cv2.BORDER_REFLECT_101, dst=d)),
        ("resize 2/3", "resize width=1280 height=720", (rgb,), lambda d: cv2.resize(rgb, (1280, 720), dst=d)),
        ("resize x2", "resize width=1920 height=1080", (small,), lambda d: cv2.resize(small, (1920, 1080), dst=d)),
        ("resize area 1/3", "resize width=640 height=360 filter=area", (rgb,), lambda d: cv2.resize(rgb, (640, 360), dst=d, interpolation=cv2.INTER_AREA)),
        ("resize nearest 2/3", "resize width=1280 height=720 filter=nearest", (rgb,), lambda d: cv2.resize(rgb, (1280, 720), dst=d, interpolation=cv2.INTER_NEAREST)),
        ("resize bicubic 2/3", "resize width=1280 height=720 filter=bicubic", (rgb,), lambda d: cv2.resize(rgb, (1280, 720), dst=d, interpolation=cv2.INTER_CUBIC)),
        ("resize lanczos 2/3", "resize width=1280 height=720 filter=lanczos3", (rgb,), lambda d: cv2.resize(rgb, (1280, 720), dst=d, interpolation=cv2.INTER_LANCZOS4)),
        ("letterbox 640", "letterbox width=640 height=640", (rgb,), lambda d: boxed(rgb)),
        ("pyramid down", "pyramid", (rgb,), lambda d: cv2.pyrDown(rgb, dst=d)),
        ("pyramid up", "pyramid direction=up", (small,), lambda d: cv2.pyrUp(small, dst=d)),
        ("warp_affine", f"warp_affine matrix={text(affine)}", (rgb,), lambda d: cv2.warpAffine(rgb, affine, (W, H), dst=d)),
        ("warp_affine nearest", f"warp_affine matrix={text(affine)} filter=nearest", (rgb,), lambda d: cv2.warpAffine(rgb, affine, (W, H), dst=d, flags=cv2.INTER_NEAREST)),
        ("warp_perspective", f"warp_perspective matrix={text(projective)}", (rgb,), lambda d: cv2.warpPerspective(rgb, projective, (W, H), dst=d)),
        ("remap", "remap", (rgb, map_x, map_y), lambda d: cv2.remap(rgb, map_x, map_y, cv2.INTER_LINEAR, dst=d)),
        ("undistort", f"undistort camera=[1500,1500,960,540] distortion={text(lens)}", (rgb,), lambda d: cv2.undistort(rgb, camera, lens, dst=d)),
        ("box_blur 5", "box_blur kernel=5", (rgb,), lambda d: cv2.blur(rgb, (5, 5), dst=d)),
        ("box_blur 15", "box_blur kernel=15", (rgb,), lambda d: cv2.blur(rgb, (15, 15), dst=d)),
        ("gaussian_blur 5", "gaussian_blur kernel=5", (rgb,), lambda d: cv2.GaussianBlur(rgb, (5, 5), 0, dst=d)),
        ("gaussian_blur 15", "gaussian_blur kernel=15", (rgb,), lambda d: cv2.GaussianBlur(rgb, (15, 15), 0, dst=d)),
        ("median 3", "median", (rgb,), lambda d: cv2.medianBlur(rgb, 3, dst=d)),
        ("median 5", "median kernel=5", (rgb,), lambda d: cv2.medianBlur(rgb, 5, dst=d)),
        ("erode 3", "erode", (rgb,), lambda d: cv2.erode(rgb, square(3), dst=d)),
        ("dilate 7", "dilate kernel=7", (rgb,), lambda d: cv2.dilate(rgb, square(7), dst=d)),
        ("morphology open 5", "morphology operation=open kernel=5", (rgb,), lambda d: cv2.morphologyEx(rgb, cv2.MORPH_OPEN, square(5), dst=d)),
        ("morphology gradient 3", "morphology operation=gradient", (rgb,), lambda d: cv2.morphologyEx(rgb, cv2.MORPH_GRADIENT, square(3), dst=d)),
        ("filter2d 3", f"filter2d weights={text(kernel)}", (rgb,), lambda d: cv2.filter2D(rgb, -1, kernel, dst=d)),
        ("filter2d 5", f"filter2d weights={text(kernel5)}", (rgb,), lambda d: cv2.filter2D(rgb, -1, kernel5, dst=d)),
        ("laplacian 1", "laplacian to=i16", (gray,), lambda d: cv2.Laplacian(gray, cv2.CV_16S, dst=d, ksize=1)),
        ("laplacian 3", "laplacian kernel=3 to=i16", (gray,), lambda d: cv2.Laplacian(gray, cv2.CV_16S, dst=d, ksize=3)),
        ("sobel", "sobel", (rgb,), lambda d: edges(rgb, False)),
        ("scharr", "scharr", (rgb,), lambda d: edges(rgb, True)),
        ("sharpen", "sharpen amount=0.5 kernel=5", (rgb,), lambda d: cv2.addWeighted(rgb, 1.5, cv2.GaussianBlur(rgb, (5, 5), 0), -0.5, 0, dst=d)),
    ]
    return [(name, line, images, dst(name, call)) for name, line, images, call in list_]


def measure(only, rounds, threads):
    import cv2
    import mini_image_pipe as mip

    cv2.setNumThreads(threads)
    rows = []
    for name, line, images, theirs in cases():
        if only and only not in name:
            continue
        slots = len(images)
        if slots > 1:
            names = [f"i{n}" for n in range(slots)]
            line = f"inputs={','.join(names)} ! {line} inputs={','.join('@' + n for n in names)}"
        try:
            pipe = mip.Pipeline(line, device="cpu")
            ours = lambda: pipe(*images)
            ours()
        except mip.Error as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        times = {"ours": [], "theirs": []}
        for _ in range(rounds):
            for who, call in (("ours", ours), ("theirs", theirs)):
                best, until = float("inf"), time.perf_counter() + 0.06
                while best == float("inf") or time.perf_counter() < until:
                    start = time.perf_counter()
                    call()
                    best = min(best, time.perf_counter() - start)
                times[who].append(best * 1e3)
        ratio = statistics.median(b / a for a, b in zip(times["ours"], times["theirs"]))
        rows.append({"operator": name, "threads": threads, "ours_ms": statistics.median(times["ours"]), "opencv_ms": statistics.median(times["theirs"]), "ratio": ratio})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.one])
        print(json.dumps(measure(args.only, args.rounds, args.one)))
        return
    rows = []
    for threads in args.threads.split(","):
        command = [sys.executable, __file__, "--one", threads, "--rounds", str(args.rounds), "--only", args.only]
        rows += json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'operator':24} {'threads':>7} {'ours, ms':>9} {'OpenCV, ms':>10} {'OpenCV / ours':>14}")
    for row in sorted(rows, key=lambda row: (row["threads"], row["ratio"])):
        print(f"{row['operator']:24} {row['threads']:>7} {row['ours_ms']:9.2f} {row['opencv_ms']:10.2f} {row['ratio']:14.2f}")


if __name__ == "__main__":
    main()
