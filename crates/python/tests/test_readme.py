"""The Python of READMEs and of the book runs as it stands."""

import json
import re
from pathlib import Path

import mini_image_pipe as mip
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]


def blocks(document, mark):
    return re.findall(rf"```{mark}\n(.*?)```", document.read_text(), re.DOTALL)


TENSORS = ROOT / "docs/tensors.md"
READMES = [ROOT / "crates/python/README.md", ROOT / "README.md", ROOT / "docs/getting-started.md", TENSORS]
BLOCKS = [
    (f"{readme.parent.name}-{readme.stem}-{number}", code)
    for readme in READMES
    for number, code in enumerate(blocks(readme, "python"))
]


def test_there_are_as_many_as_there_were():
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("code", [code for _, code in BLOCKS], ids=[name for name, _ in BLOCKS])
def test_it_runs(code, tmp_path, monkeypatch, photo):
    for library in ("cv2", "torchvision", "albumentations"):
        if f"import {library}" in code or f"from {library}" in code:
            pytest.importorskip(library, reason=f"{library} is not installed")
    if 'device="cuda"' in code:
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        if not torch.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")
    monkeypatch.chdir(tmp_path)
    mip.save(mip.ops.resize(photo, width=640), "photo.jpg")
    # What the command line of docs/tensors.md writes, in the shape that the index there says.
    index = blocks(TENSORS, "json")[0]
    Path("tensors.index.json").write_text(index)
    np.save("tensors.npy", np.zeros(json.loads(index)["arrays"][0]["shape"], np.float32))
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102: our own text
