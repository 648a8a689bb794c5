"""The Python of READMEs and of the book runs as it stands."""

import re
from pathlib import Path

import mini_image_pipe as mip
import pytest

ROOT = Path(__file__).resolve().parents[3]
READMES = [ROOT / "crates/python/README.md", ROOT / "README.md", ROOT / "docs/getting-started.md"]
BLOCKS = [
    (f"{readme.parent.name}-{number}", code)
    for readme in READMES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL))
]


def test_there_are_as_many_as_there_were():
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize("code", [code for _, code in BLOCKS], ids=[name for name, _ in BLOCKS])
def test_it_runs(code, tmp_path, monkeypatch, photo):
    monkeypatch.chdir(tmp_path)
    mip.save(mip.ops.resize(photo, width=640), "photo.jpg")
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102: our own text
