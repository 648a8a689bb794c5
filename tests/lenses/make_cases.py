"""Writes crates/testkit/tests/lenses.txt: where OpenCV looks for pixels when it undistorts, made in f64.

    python -m venv target/pictures-venv && target/pictures-venv/bin/pip install -r tests/pictures/requirements.txt
    target/pictures-venv/bin/python tests/lenses/make_cases.py

Two lines a case: the parameters of `undistort`, and x, y of pixels of the result, each with the coordinates of the source.
"""

import pathlib

import cv2
import numpy as np

FILE = pathlib.Path(__file__).parents[2] / "crates/testkit/tests/lenses.txt"
CASES = [
    # camera, distortion, new camera, fisheye, size
    ([1800, 1795, 959.5, 541], [-0.28, 0.09, 0.0007, -0.0003], None, False, (1920, 1080)),
    ([1800, 1795, 959.5, 541], [-0.28, 0.09, 0.0007, -0.0003, -0.012], [1500, 1500, 960, 540], False, (1920, 1080)),
    ([610, 612, 321, 243], [0.31, -0.12, 0.001, 0.002, 0.04, 0.2, -0.05, 0.01], None, False, (640, 480)),
    (
        [610, 612, 321, 243],
        [-0.2, 0.05, -0.001, 0.0005, 0.01, 0.02, -0.01, 0.004, 0.002, -0.0007, 0.001, 0.0004],
        [500, 505, 319.5, 239.5],
        False,
        (640, 480),
    ),
    ([420, 421, 640, 480], [-0.02, 0.008, -0.003, 0.0005], None, True, (1280, 960)),
    ([420, 421, 640, 480], [0.04, -0.01, 0.002, -0.0003], [150, 160, 639.5, 479.5], True, (1280, 960)),
]


def matrix(camera):
    fx, fy, cx, cy = camera
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], np.float64)


def main():
    lines = [f"# By OpenCV {cv2.__version__}: see tests/lenses/make_cases.py."]
    for camera, distortion, new, fisheye, (width, height) in CASES:
        undistort = cv2.fisheye.initUndistortRectifyMap if fisheye else cv2.initUndistortRectifyMap
        numbers = np.array(distortion, np.float64)
        maps = undistort(matrix(camera), numbers, np.eye(3), matrix(new or camera), (width, height), cv2.CV_32FC1)
        parameters = [f"camera = {camera}", f"distortion = {distortion}"]
        parameters += [f"new_camera = {new}"] if new else []
        parameters += ["model = 'fisheye'"] if fisheye else []
        lines.append(", ".join(parameters))
        places = [(x, y) for y in range(0, height, height // 6) for x in range(0, width, width // 6)]
        lines.append(" ".join(f"{x} {y} {maps[0][y, x]:.5f} {maps[1][y, x]:.5f}" for x, y in places))
    FILE.write_text("\n".join(lines) + "\n")


main()
