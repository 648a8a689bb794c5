import numpy as np
import pytest


@pytest.fixture
def photo():
    """A picture of noise over a ramp: 48 rows, 64 columns, rgb."""
    random = np.random.default_rng(1)
    ramp = np.linspace(0, 200, 64)[None, :, None]
    return (ramp + random.integers(0, 55, (48, 64, 3))).astype(np.uint8)


@pytest.fixture
def gray(photo):
    return np.ascontiguousarray(photo[:, :, 1])
