import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The same cases each time, so that the same commit gets the same answer. For more, drawn anew: pytest --hypothesis-profile=long
settings.register_profile("gate", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gate")


@pytest.fixture
def photo():
    """A picture of noise over a ramp: 48 rows, 64 columns, rgb."""
    random = np.random.default_rng(1)
    ramp = np.linspace(0, 200, 64)[None, :, None]
    return (ramp + random.integers(0, 55, (48, 64, 3))).astype(np.uint8)


@pytest.fixture
def gray(photo):
    return np.ascontiguousarray(photo[:, :, 1])
