"""Writes images and the manifest; knows nothing of operators."""

import json
from pathlib import Path

import cv2
import numpy as np

FORMATS = {1: "gray", 3: "rgb", 4: "rgba"}


def write_image(path: Path, image: np.ndarray) -> str:
    """Integer pictures become PNG, everything else .npy; returns the file name with its extension."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = np.ascontiguousarray(image)
    if image.dtype in (np.uint8, np.uint16) and (image.ndim == 2 or image.shape[2] in (1, 3, 4)):
        # cv2 takes its own channel order and writes the file's; ours go into the file as they are.
        order = {3: [2, 1, 0], 4: [2, 1, 0, 3]}.get(image.shape[2] if image.ndim == 3 else 1)
        shuffled = image if order is None else image[:, :, order]
        path = path.with_suffix(".png")
        assert cv2.imwrite(str(path), shuffled, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    else:
        path = path.with_suffix(".npy")
        np.save(path, image)
    return path.name


def toml_value(value) -> str:
    """Strings, booleans, numbers and lists of numbers, as TOML writes them (JSON does it the same way)."""
    return json.dumps(value)


class Store:
    """Collects cases, then writes manifest.toml."""

    def __init__(self, root: Path):
        self.root, self.cases, self.names, self.written = root, [], set(), {}

    def image(self, folder: str, name: str, image: np.ndarray, format: str | None = None, layout="hwc") -> dict:
        channels = image.shape[0] if layout == "chw" else (1 if image.ndim == 2 else image.shape[2])
        if (folder, name) not in self.written:
            self.written[folder, name] = write_image(self.root / folder / name, image)
        file = f"{folder}/{self.written[folder, name]}"
        return {"file": file, "format": format or FORMATS[channels], "layout": layout}

    def case(self, name, op, params, inputs, expected, library, call, why, tolerance=0.0, format=None, layout="hwc"):
        """`expected` in f64 holds exact values before rounding; anything else holds samples, each within
        `tolerance` of which ours must be. An input is `(name, array)` or `(name, array, format)`."""
        assert name not in self.names, name
        self.names.add(name)
        self.cases.append({
            "name": name,
            "op": op,
            "library": library,
            "call": call,
            "why": why,
            "tolerance": float(tolerance),
            "params": params,
            "inputs": [self.image("inputs", *given) for given in inputs],
            "expected": self.image("expected", name, expected, format, layout),
        })

    def write_manifest(self, header: str):
        table = lambda d: "{ " + ", ".join(f"{k} = {toml_value(v)}" for k, v in d.items()) + " }" if d else "{}"
        lines = [f"# {line}".rstrip() for line in header.strip().splitlines()]
        for case in self.cases:
            lines += ["", "[[case]]"]
            for key, value in case.items():
                if key == "inputs":
                    text = "[" + ", ".join(table(i) for i in value) + "]"
                else:
                    text = table(value) if isinstance(value, dict) else toml_value(value)
                lines.append(f"{key} = {text}")
        (self.root / "manifest.toml").write_text("\n".join(lines) + "\n")
