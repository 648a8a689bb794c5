"""Images of any shape, type and order in memory, for properties."""

import numpy as np
from hypothesis import strategies as st

DTYPES = (np.uint8, np.uint16, np.int16, np.float16, np.float32)


def samples(seed, shape, dtype):
    """Noise over the whole range of an integer; of floats around 0 to 1, with exact halves among them."""
    random = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return (random.integers(-512, 1536, shape) / 1024).astype(dtype)


def _as_it_is(array):
    return array


def _region(array):
    """In the middle of something larger, with rows that do not follow each other."""
    height, width = array.shape[:2]
    large = np.zeros((height + 3, width + 5, *array.shape[2:]), array.dtype)
    large[2 : 2 + height, 1 : 1 + width] = array
    return large[2 : 2 + height, 1 : 1 + width]


def _thinned(array):
    """Every other column and every third row of something larger."""
    height, width = array.shape[:2]
    large = np.zeros((height * 3, width * 2, *array.shape[2:]), array.dtype)
    large[::3, ::2] = array
    return large[::3, ::2]


def _turned(array):
    return np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]


def _columns_first(array):
    return np.asfortranarray(array)


def _planes(array):
    """Interleaved to whoever looks, in planes in memory."""
    return array if array.ndim < 3 else np.ascontiguousarray(array.transpose(2, 0, 1)).transpose(1, 2, 0)


def _unaligned(array):
    """At an odd address."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    view = memory[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


ORDERS = (_as_it_is, _region, _thinned, _turned, _columns_first, _planes, _unaligned)


@st.composite
def images(draw, dtypes=DTYPES, channels=(None, 1, 3, 4), most=24, least=1):
    """An array (height, width) or (height, width, channels) in whatever order, read-only or not."""
    side = st.integers(least, most)
    shape = (draw(side), draw(side))
    depth = draw(st.sampled_from(channels))
    array = samples(draw(st.integers(0, 2**32 - 1)), shape if depth is None else (*shape, depth), draw(st.sampled_from(dtypes)))
    view = draw(st.sampled_from(ORDERS))(array)
    if draw(st.booleans()):
        view.flags.writeable = False
    return view


def as_results(array):
    """One channel is none to results."""
    return array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array
