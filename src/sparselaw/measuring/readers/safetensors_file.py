"""Tensors of latents in safetensors files, as people who train sparse autoencoders store them.

The format is a length, a table of contents in JSON and the numbers themselves, so that no library is needed.
Understood are, by their names and shapes,

    locations (nonzeros, 2 or 3), activations (nonzeros): sample and feature, or batch, place and feature;
    indices and values of the same two-dimensional shape (rows, k): the k largest latents of each row;
    crow_indices (or indptr), col_indices (or indices) and values (or data): compressed rows;
    one two-dimensional tensor: rows and latents.

A tensor ``shape`` of two whole numbers says how many rows and latents there are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sparselaw.inputs.empirical import MOST_ROWS
from sparselaw.measuring.nonzeros import (
    PART,
    Nonzeros,
    compressed_parts,
    no_entries,
    parts_of_matrix,
    real_numbers,
    whole_numbers,
)
from sparselaw.measuring.readers.base import FeatureFile, two_sizes

KINDS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "i1", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?",
}  # fmt: skip
ACTIVATIONS = ("activations", "values", "top_acts", "acts", "data")
INDICES = ("indices", "top_indices", "col_indices")
STARTS = ("crow_indices", "indptr")
LONGEST_HEADER = 100 << 20


def read_safetensors(file: FeatureFile) -> Iterator[Nonzeros]:
    """The table of contents says where each tensor lies; all of it is held against the size of the file."""
    tensors = _tensors(file)
    rows, columns = two_sizes(tensors.pop("shape")[:]) if "shape" in tensors else (None, None)
    values, indices, starts = (
        next((tensors[name] for name in names if name in tensors), None)
        for names in (ACTIVATIONS, INDICES, STARTS)
    )
    tables = [tensor for tensor in tensors.values() if tensor.ndim == 2]
    if "locations" in tensors and values is not None:
        found = _located(tensors["locations"], values)
    elif starts is not None and indices is not None and values is not None:
        found = _compressed(starts, indices, values, rows, columns)
    elif indices is not None and values is not None and indices.shape == values.shape and values.ndim == 2:
        found = _largest(indices, values)
    elif len(tables) == 1:
        found = parts_of_matrix(tables[0])
    else:
        shown = ", ".join(f"{name} {list(t.shape)}" for name, t in list(tensors.items())[:6])
        raise file.refuse(
            f"holds {shown}, and which are the latents is not clear",
            "name them locations and activations, or indices and values",
        )
    for part in found:
        if rows is not None and part.rows > rows:
            raise ValueError(f"{part.rows} rows where its shape has {rows}")
        yield part if rows is None else replace(part, rows=rows, features=columns)


def _tensors(file: FeatureFile) -> dict[str, _Tensor]:
    size = file.path.stat().st_size
    with file.path.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > min(size - 8, LONGEST_HEADER):
            raise EOFError("its table of contents does not fit in it")
        contents = json.loads(opened.read(length))
    if not isinstance(contents, dict):
        raise ValueError("its table of contents is no object")
    contents.pop("__metadata__", None)
    tensors = {name: _tensor(file, name[:40], entry, 8 + length, size) for name, entry in contents.items()}
    if sum(tensor.array.nbytes for tensor in tensors.values()) != size - 8 - length:
        raise ValueError("its tensors do not fill it: one is named twice, or lies over another")
    return tensors


def _tensor(file: FeatureFile, name: str, entry: dict[str, Any], start: int, size: int) -> _Tensor:
    kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if kind not in KINDS:
        raise file.refuse(f"tensor {name} is of type {str(kind)[:40]}", "write it as F32")
    if any(type(n) is not int or not 0 <= n < 2**62 for n in (*shape, *offsets)):
        raise ValueError(f"tensor {name} has no shape or no place")
    first, last = offsets
    if math.prod(shape) * np.dtype(KINDS[kind]).itemsize != last - first:
        raise ValueError(f"tensor {name} has another shape than its numbers")
    if start + last > size:
        raise EOFError(f"tensor {name} ends beyond the file")
    how: Any = {"mode": "r", "offset": start + first, "shape": tuple(shape) or (1,)}
    empty = first == last
    return _Tensor(
        np.empty(shape, KINDS[kind]) if empty else np.memmap(file.path, KINDS[kind], **how),
        kind == "BF16",
    )


class _Tensor:
    """A tensor on the disk. Numbers of 16 bits with a long exponent (BF16) are half of a float of 32."""

    def __init__(self, array: Any, wide: bool) -> None:
        self.array, self._wide, self.shape, self.ndim = array, wide, array.shape, array.ndim

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, part: Any) -> np.ndarray:
        found = np.asarray(self.array[part])
        return (found.astype(np.uint32) << 16).view(np.float32) if self._wide else found


def _located(locations: _Tensor, values: _Tensor) -> Iterator[Nonzeros]:
    if locations.ndim != 2 or locations.shape[1] not in (2, 3) or values.shape != locations.shape[:1]:
        raise ValueError("locations and activations do not fit together")
    sample, *place, feature = (whole_numbers("its locations", column) for column in locations[:].T)
    if place:  # of so many in each batch
        if min(int(sample.min(initial=0)), int(place[0].min(initial=0))) < 0:
            raise ValueError("its locations are negative")
        places = int(place[0].max(initial=0)) + 1
        if (int(sample.max(initial=0)) + 1) * places > MOST_ROWS:
            raise ValueError("its locations are too large")
        sample = sample * places + place[0]
    yield Nonzeros(sample, feature, real_numbers(values[:]), int(sample.max(initial=-1)) + 1)


def _compressed(
    starts: _Tensor, indices: _Tensor, values: _Tensor, rows: int | None, columns: int | None
) -> Iterator[Nonzeros]:
    if not (starts.ndim == indices.ndim == values.ndim == 1 and len(starts)):
        raise ValueError("its compressed rows are no lists")
    if int(starts[-1:][0]) != len(indices):  # nothing else says how many rows there are: none is left out
        raise EOFError("its starts of rows and its entries do not fit together")
    shape = (len(starts) - 1 if rows is None else rows, columns)
    yield from compressed_parts(starts[:], indices, values, shape, by_rows=True)


def _largest(indices: _Tensor, values: _Tensor) -> Iterator[Nonzeros]:
    """The largest latents of each row; one of value zero is not active."""
    rows, k = indices.shape
    yield no_entries(rows)
    step = max(1, PART // max(k, 1))
    for start in range(0, rows if k else 0, step):
        end = min(start + step, rows)
        column = whole_numbers("its indices", indices[start:end].ravel())
        value = real_numbers(values[start:end].ravel())
        yield Nonzeros(np.repeat(np.arange(start, end), k), column, value, rows)
