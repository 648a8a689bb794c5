#!/usr/bin/env bash
# The Python package: lints, build, types, and tests against NumPy, OpenCV and Pillow. Needs Rust and Python 3.11 or later with pip,
# and says so plainly when they are not there. Arguments go to pytest. With MIP_PYTHON_RELEASE=1 as it is released, which takes minutes more.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$PWD/target/python-venv/bin
has_python() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }
has_venv() { [ -x "$bin/python" ] || python3 -m venv "${bin%/bin}"; }
packages=(maturin numpy pillow opencv-python-headless pytest mypy hypothesis)
# For tests that are skipped, and say so, where these cannot be had. PyTorch, torchvision and Albumentations are used where they are installed.
further=(scipy onnx onnxruntime nbclient ipykernel "ray[data]" daft)
if ! { has_python && has_venv && "$bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"; }; then
  echo "SKIPPED: no Python 3.11 with pip and its packages; the Python package is neither built nor tested"
  exit 0
fi
"$bin/python" -m pip install --quiet --disable-pip-version-check "${further[@]}" || echo "SKIPPED: not all of ${further[*]} can be installed; their tests are skipped"

# What the workspace has compiled for a release is used again.
export CARGO_TARGET_DIR=$PWD/target PYO3_PYTHON=$bin/python VIRTUAL_ENV=${bin%/bin} PATH=$bin:$PATH
cd crates/python
cargo clippy --quiet -- -D warnings
maturin develop --quiet ${MIP_PYTHON_RELEASE:+--release}
mypy --strict --follow-imports=silent python/mini_image_pipe tests/typed.py
pytest --quiet "$@"
