"""Tensors that say that they lie on a GPU, where there is none: what they are is read, and why they cannot be read is said."""

import gc

import mini_image_pipe as mip
import numpy as np
import pytest
from fake_tensors import CPU, CUDA, CUDA_HOST, CUDA_MANAGED, ROCM, Array, Tensor

PIPE = mip.Pipeline("invert", device="cpu")
# Takes every dtype.
MOVES = mip.Pipeline("flip", device="cpu")
VERSIONS = pytest.mark.parametrize("versioned", [False, True], ids=["before 1.0", "1.0"])


def plan_of(tensor, **meaning):
    """What a plan for it is made for; a plan looks at shapes alone."""
    return str(MOVES.plan(tensor, **meaning))


@VERSIONS
@pytest.mark.parametrize(
    ("shape", "dtype", "meaning", "image"),
    [
        ((4, 6), "uint8", {}, "6x4 gray u8"),
        ((4, 6, 3), "uint16", {}, "6x4 rgb u16"),
        ((4, 6, 4), "float16", {"format": "bgra"}, "6x4 bgra f16"),
        ((3, 4, 6), "float32", {"layout": "chw"}, "6x4 rgb f32 chw"),
    ],
)
def test_a_tensor_is_what_its_struct_says(shape, dtype, meaning, image, versioned):
    tensor = Tensor(shape, dtype, versioned=versioned)
    array = np.zeros(shape, dtype)
    assert plan_of(tensor, **meaning) == plan_of(array, **meaning)
    assert image.split()[0] in plan_of(tensor, **meaning)
    expected = {"stream": -1} if not versioned else {"stream": -1, "max_version": (1, 0)}
    assert tensor.asked == [expected, expected]
    # Taken over, and given back once each.
    used = b"used_dltensor_versioned" if versioned else b"used_dltensor"
    assert tensor.names() == [used, used] and tensor.deleted == 2


@VERSIONS
def test_what_is_refused_is_given_back_once(versioned):
    for tensor, text in [
        (Tensor((4, 4), "float64", versioned=versioned), "none of uint8"),
        (Tensor((4, 4, 2), versioned=versioned), "2 channels"),
        (Tensor((2, 2, 2, 2), versioned=versioned), "is no image"),
        (Tensor((), versioned=versioned), "is no image"),
    ]:
        with pytest.raises(mip.RequestError, match=text):
            PIPE.plan(tensor)
        assert tensor.deleted == 1, text


def test_a_capsule_is_taken_over_once():
    tensor = Tensor((4, 4))
    capsule = tensor.capsule()
    tensor.__dlpack__ = None

    class Same:
        def __dlpack_device__(self):
            return (CUDA, 0)

        def __dlpack__(self, **options):
            return capsule

    same = Same()
    PIPE.plan(same)
    with pytest.raises(ValueError, match="PyCapsule"):
        PIPE.plan(same)
    assert tensor.deleted == 1


def test_capsules_that_are_none_are_refused():
    class Wrong(Tensor):
        def __dlpack__(self, **options):
            return "a capsule"

    with pytest.raises(ValueError, match="PyCapsule"):
        PIPE.plan(Wrong((4, 4)))
    future = Tensor((4, 4), major=2)
    with pytest.raises(BufferError, match="major version"):
        PIPE.plan(future)
    # It was not taken over: its layout is not known.
    assert future.names() == [b"dltensor_versioned"] and future.deleted == 0
    with pytest.raises(BufferError, match="another device"):
        PIPE.plan(Tensor((4, 4), device=(CUDA, 1), says=(CUDA, 0)))
    with pytest.raises(BufferError, match="another device"):
        PIPE(Tensor((4, 4), device=(CUDA, 1), says=(CPU, 0)))


@pytest.mark.parametrize("device", [(CUDA, 0), (CUDA, 3), (CUDA_MANAGED, 3)])
def test_a_pipeline_of_the_cpu_names_the_remedies(device):
    tensor = Tensor((4, 4), device=device)
    place = f"cuda:{device[1]}"
    for run in (
        lambda: PIPE(tensor),
        lambda: PIPE(input=tensor),
        lambda: PIPE.run_batch(tensor),
        lambda: PIPE.run_batch([tensor, tensor]),
        lambda: mip.ops.invert(tensor, device="cpu"),
    ):
        with pytest.raises(mip.RequestError) as refused:
            run()
        text = str(refused.value)
        assert f"this Tensor lies on {place}, but the pipeline runs on the CPU" in text
        assert "tensor.cpu()" in text and f'device="{place}"' in text
    # Nobody touched it.
    assert tensor.asked == [] and tensor.deleted == 0


def test_what_only_reads_the_cpu_says_so(tmp_path):
    tensor = Tensor((4, 4))
    for read in (
        lambda: mip.Image(tensor),
        lambda: mip.save(tensor, tmp_path / "x.png"),
        lambda: next(PIPE.stream([tensor])),
    ):
        with pytest.raises(mip.RequestError, match=r"lies on cuda:0, but .* reads the CPU's memory; tensor.cpu\(\)"):
            read()


def test_images_of_one_run_lie_together():
    pair = mip.Pipeline(inputs=["a", "b"], device="cpu").add("d", "absdiff", inputs=["@a", "@b"])
    host = np.zeros((4, 4), np.uint8)
    for run in (lambda: pair(host, Tensor((4, 4))), lambda: pair(a=Tensor((4, 4)), b=host)):
        with pytest.raises(mip.RequestError, match="lie together: .* tensor.cuda.* tensor.cpu"):
            run()


def test_other_devices_are_not_ours():
    with pytest.raises(mip.RequestError, match=r"another device .*tensor.cpu\(\)"):
        PIPE(Tensor((4, 4), device=(ROCM, 0)))


def test_pinned_memory_is_the_hosts():
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    tensor = Tensor((3, 4), device=(CUDA_HOST, 0), data=pixels.ctypes.data)
    assert np.array_equal(PIPE(tensor), 255 - pixels)
    gc.collect()
    assert tensor.deleted == 1


@pytest.mark.parametrize(("typestr", "dtype"), [("|u1", "uint8"), ("<u2", "uint16"), ("<i2", "int16"), ("<i4", "int32"), ("<f2", "float16"), ("<f4", "float32")])
def test_the_cuda_array_interface_is_read(typestr, dtype):
    array = np.zeros((4, 6, 3), dtype)
    assert plan_of(Array((4, 6, 3), typestr)) == plan_of(array)
    assert plan_of(Array((4, 6, 3), typestr, strides=array.strides)) == plan_of(array)
    assert plan_of(Array((4, 6, 3), typestr, stream=1)) == plan_of(array)
    assert plan_of(Array((4, 6, 3), typestr, version=2)) == plan_of(array)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (Array((4, 4), ">u2"), "samples of '>u2'"),
        (Array((4, 4), "<f8"), "convert it first"),
        (Array((4, 4), stream=0), "stream 0"),
        (Array((4, 4), strides=(4,)), "2 sides and 1 strides"),
        (Array((4, 4), data=None), "has no 'data'"),
        (Array(None), "has no 'shape'"),
        (Array((4, 4, 7)), "7 channels"),
    ],
)
def test_interfaces_that_are_wrong_say_in_what(array, text):
    with pytest.raises(mip.RequestError, match=text):
        PIPE.plan(array)
    array.__cuda_array_interface__ = "nothing"
    with pytest.raises(mip.RequestError, match="no dictionary"):
        PIPE.plan(array)


def test_the_interface_alone_is_on_a_gpu_as_well():
    with pytest.raises(mip.RequestError, match=r"this Array lies on a GPU, but the pipeline runs on the CPU.*device=\"cuda\""):
        PIPE(Array((4, 4)))


def test_results_on_a_gpu_are_made_by_pipelines_alone():
    with pytest.raises(TypeError):
        mip.DeviceImage(np.zeros((4, 4), np.uint8))


def test_planar_tensors_are_named_the_remedy():
    with pytest.raises(mip.RequestError, match='say layout="chw"'):
        PIPE.plan(Tensor((3, 40, 60)))
