#!/usr/bin/env python3
"""Prints a pipeline that cuts so many pieces of 300x300 out of one 4K picture and makes each a normalised 224x224 tensor.

    python3 benchmarks/gpu/crops.py 128 > crops.toml
    mip bench crops.toml --size 3840x2160 --device cuda

The pieces lie on a grid over the whole picture and overlap.
"""

import sys

TASKS = """
[[task]]
name = "crop{n}"
op = "crop"
x = {x}
y = {y}
width = 300
height = 300
inputs = ["@input"]

[[task]]
name = "small{n}"
op = "resize"
width = 224
height = 224

[[task]]
name = "scaled{n}"
op = "normalize"
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]

[[task]]
name = "tensor{n}"
op = "layout"
to = "chw"
"""


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 128
    columns = max(1, round(count**0.5 * 16 / 9))
    rows = -(-count // columns)
    print('name = "crops"')
    for n in range(count):
        column, row = n % columns, n // columns
        x = column * (3840 - 300) // max(1, columns - 1)
        y = row * (2160 - 300) // max(1, rows - 1)
        print(TASKS.format(n=n, x=x, y=y), end="")


if __name__ == "__main__":
    main()
