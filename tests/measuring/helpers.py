"""Whether two measurements say the same, and safetensors files written byte by byte."""

import json
import math

import numpy as np


def assert_alike(one, two):
    """Words and counts exactly, other numbers to rounding."""
    for found, other in zip(leaves(one.as_dict()), leaves(two.as_dict()), strict=True):
        if isinstance(found, float) and isinstance(other, float):
            assert math.isclose(found, other, rel_tol=1e-9, abs_tol=1e-12), (found, other)
        else:
            assert found == other


def leaves(value):
    """The values of a record in order, without the source and the table of single features."""
    if isinstance(value, dict):
        inside = [value[name] for name in sorted(value) if name not in ("source", "table")]
        return [leaf for part in inside for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def tensors(path, arrays, header=None):
    contents, data = {}, b""
    for name, array in arrays.items():
        start, data = len(data), data + np.ascontiguousarray(array).tobytes()
        kind, place = f"{array.dtype.kind.upper()}{8 * array.dtype.itemsize}", [start, len(data)]
        contents[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": place}
    text = json.dumps(contents if header is None else header(contents)).encode()
    path = path.with_suffix(".safetensors")
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path
