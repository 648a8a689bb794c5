"""Memory stays flat over many calls; benchmarks/python/leaks.py takes millions."""

import importlib.util
from pathlib import Path

import mini_image_pipe as mip
import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks/python/leaks.py"


@pytest.fixture
def leaks():
    spec = importlib.util.spec_from_file_location("leaks", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def over_noise(leaks, grown):
    assert grown["python"] is not None
    return {name: by for name, by in grown.items() if by is not None and by > leaks.NOISE[name]}


def test_memory_stays_flat_over_20000_calls_of_every_kind_from_two_threads(leaks):
    assert not over_noise(leaks, leaks.measured(20_000, threads=2))


def test_what_leaks_is_found(leaks, photo, monkeypatch):
    kept, pipe = [], mip.Pipeline("flip", device="cpu", num_streams=1)
    monkeypatch.setattr(leaks.Calls, "run", lambda self, calls: kept.extend(pipe(mip.Image(photo)) for _ in range(calls)))
    found = over_noise(leaks, leaks.measured(2000))
    # What the process holds need not grow where the tests before have left room.
    assert "python" in found and ("heap" in found or leaks.heap() is None)
