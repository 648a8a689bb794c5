"""Tensors as other libraries hand them out, made of ctypes: their structs say a GPU, and nothing is there."""

import ctypes

CPU, CUDA, CUDA_HOST, ROCM, CUDA_MANAGED = 1, 2, 3, 10, 13

TYPES = {"int16": (0, 16), "int32": (0, 32), "uint8": (1, 8), "uint16": (1, 16), "float16": (2, 16), "float32": (2, 32), "float64": (2, 64)}


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Tensor:
    """A tensor of a GPU, or of whatever `device` says, by DLPack.

    `deleted` counts how often its deleter was called; `asked` holds what its `__dlpack__` was given; `names` gives its capsules'
    names as they are now.
    """

    def __init__(self, shape, dtype="uint8", *, device=(CUDA, 0), strides=None, versioned=True, major=1, says=None, data=0xD000):
        self.shape, self.dtype, self.strides = shape, TYPES[dtype], strides
        self.device, self.says = device, says or device
        self.versioned, self.major, self.data = versioned, major, data
        self.deleted, self.asked, self.capsules, self._kept = 0, [], [], []

    def __dlpack_device__(self):
        return self.says

    def __dlpack__(self, **options):
        if "max_version" in options and not self.versioned:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(options)
        capsule = self.capsule()
        self.capsules.append(capsule)
        return capsule

    def capsule(self):
        numbers = lambda values: (ctypes.c_int64 * len(values))(*values)
        shape, strides = numbers(self.shape), self.strides and numbers(self.strides)
        pointer = ctypes.POINTER(ctypes.c_int64)

        def delete(_):
            self.deleted += 1

        deleter = DELETER(delete)
        tensor = DLTensor(
            self.data,
            Device(*self.device),
            len(self.shape),
            DataType(*self.dtype, 1),
            ctypes.cast(shape, pointer),
            ctypes.cast(strides, pointer) if strides else None,
            0,
        )
        if self.versioned:
            managed, name = ManagedVersioned(self.major, 0, None, deleter, 0, tensor), b"dltensor_versioned"
        else:
            managed, name = Managed(tensor, None, deleter), b"dltensor"
        self._kept += [shape, strides, deleter, managed, name]
        # No destructor: what nobody takes over is not deleted, which the tests see.
        return _new(ctypes.addressof(managed), name, None)

    def names(self):
        return [_name(capsule) for capsule in self.capsules]


class Array:
    """An array of a GPU that has nothing but `__cuda_array_interface__`; None leaves a part out."""

    def __init__(self, shape, typestr="|u1", **parts):
        interface = {"shape": shape, "typestr": typestr, "data": (0xD000, False), "strides": None, "stream": None, "version": 3}
        interface.update(parts)
        self.__cuda_array_interface__ = {
            name: part for name, part in interface.items() if part is not None or name in ("strides", "stream")
        }
