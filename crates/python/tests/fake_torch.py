"""The part of PyTorch that `mini_image_pipe.torch` uses, over NumPy, for where PyTorch is not installed."""

import types

import numpy as np


class Tensor(np.ndarray):
    is_cuda = False

    def permute(self, *axes):
        return self.transpose(axes)

    def is_contiguous(self):
        return self.flags.c_contiguous

    def contiguous(self):
        return np.ascontiguousarray(self).view(Tensor)

    def unsqueeze(self, axis):
        return np.expand_dims(self, axis)

    def numel(self):
        return self.size

    def as_subclass(self, cls):
        return self.view(cls)


def from_dlpack(image):
    return np.from_dlpack(image).view(Tensor)


def from_numpy(array):
    return array.view(Tensor)


def stack(tensors):
    return np.stack(tensors).view(Tensor)


def equal(a, b):
    return a.shape == b.shape and bool((np.asarray(a) == np.asarray(b)).all())


def default_collate(samples):
    first = samples[0]
    if isinstance(first, dict):
        return {name: default_collate([sample[name] for sample in samples]) for name in first}
    if isinstance(first, list):
        return [default_collate([sample[index] for sample in samples]) for index in range(len(first))]
    return samples if isinstance(first, str) else np.array(samples).view(Tensor)


def module():
    torch = types.ModuleType("torch")
    for name in (Tensor, from_dlpack, from_numpy, stack, equal):
        setattr(torch, name.__name__, name)
    torch.utils = types.SimpleNamespace(data=types.SimpleNamespace(default_collate=default_collate))
    return torch
