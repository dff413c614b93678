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
from typing import Any, ClassVar

import numpy as np

from sparselaw.errors import InputError
from sparselaw.measuring.nonzeros import (
    MOST_ROWS,
    PART,
    Nonzeros,
    compressed_parts,
    no_entries,
    parts_of_matrix,
    real_numbers,
    whole_numbers,
)
from sparselaw.measuring.readers.base import Reader, Shape, two_sizes

KINDS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "i1", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?",
}  # fmt: skip
ACTIVATIONS = ("activations", "values", "top_acts", "acts", "data")
INDICES = ("indices", "top_indices", "col_indices")
STARTS = ("crow_indices", "indptr")
LONGEST_HEADER = 100 << 20


class SafetensorsReader(Reader):
    """The table of contents says where each tensor lies; all of it is held against the size of the file."""

    name: ClassVar[str] = "safetensors"
    endings: ClassVar[tuple[str, ...]] = (".safetensors",)

    def shape(self) -> Shape:
        tensors = self._tensors()
        return two_sizes(tensors["shape"][:]) if "shape" in tensors else (None, None)

    def parts(self) -> Iterator[Nonzeros]:
        tensors = self._tensors()
        tensors.pop("shape", None)
        values, indices, starts = (
            next((tensors[name] for name in names if name in tensors), None)
            for names in (ACTIVATIONS, INDICES, STARTS)
        )
        tables = [tensor for tensor in tensors.values() if tensor.ndim == 2]
        if "locations" in tensors and values is not None:
            yield self._located(tensors["locations"], values)
        elif starts is not None and indices is not None and values is not None:
            yield from _compressed(starts, indices, values, self.shape())
        elif (
            indices is not None and values is not None and indices.shape == values.shape and indices.ndim == 2
        ):
            yield from _largest(indices, values)
        elif len(tables) == 1:
            yield from parts_of_matrix(tables[0])
        else:
            shown = ", ".join(f"{name} {list(t.shape)}" for name, t in list(tensors.items())[:6])
            raise self.refuse(
                f"holds {shown}, and which are the latents is not clear",
                "name them locations and activations, or indices and values",
            )

    def _located(self, locations: _Tensor, values: _Tensor) -> Nonzeros:
        if locations.ndim != 2 or locations.shape[1] not in (2, 3) or values.shape != locations.shape[:1]:
            raise ValueError("locations and activations do not fit together")
        where = [whole_numbers("its locations", column) for column in locations[:].T]
        low = min(int(column.min(initial=0)) for column in where)
        if low < 0:
            raise InputError("feature", low, f"is a negative index in {self.path}", "count from 0")
        sample = where[0]
        if len(where) == 3:
            places = int(where[1].max(initial=0)) + 1
            if (int(sample.max(initial=0)) + 1) * places > MOST_ROWS:
                raise ValueError("its locations are too large")
            sample = sample * places + where[1]
        return Nonzeros(sample, where[-1], real_numbers(values[:]), int(sample.max(initial=-1)) + 1)

    def _tensors(self) -> dict[str, _Tensor]:
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > min(size - 8, LONGEST_HEADER):
                raise EOFError("its table of contents does not fit in it")
            contents = json.loads(file.read(length))
        if not isinstance(contents, dict):
            raise ValueError("its table of contents is no object")
        contents.pop("__metadata__", None)
        tensors = {name: self._tensor(name[:40], entry, 8 + length, size) for name, entry in contents.items()}
        if sum(tensor.bytes for tensor in tensors.values()) != size - 8 - length:
            raise ValueError("its tensors do not fill it: one is named twice, or lies over another")
        return tensors

    def _tensor(self, name: str, entry: Any, start: int, size: int) -> _Tensor:
        if not isinstance(entry, dict):
            raise ValueError(f"tensor {name} is no object")
        named: list[Any] = [entry.get(key) for key in ("dtype", "shape", "data_offsets")]
        kind, shape, offsets = named
        if not isinstance(kind, str) or kind not in KINDS:
            raise self.refuse(f"tensor {name} is of type {str(kind)[:40]}", "write it as F32")
        for sizes in (shape, offsets):
            if not isinstance(sizes, list) or any(type(n) is not int or not 0 <= n < 2**62 for n in sizes):
                raise ValueError(f"tensor {name} has no shape or no place")
        if len(offsets) != 2 or math.prod(shape) * np.dtype(KINDS[kind]).itemsize != offsets[1] - offsets[0]:
            raise ValueError(f"tensor {name} has another shape than its numbers")
        if start + offsets[1] > size:
            raise EOFError(f"tensor {name} ends beyond the file")
        if offsets[0] == offsets[1]:
            return _Tensor(np.empty(shape, KINDS[kind]), kind == "BF16")
        place = start + offsets[0]
        array: Any = np.memmap(self.path, KINDS[kind], mode="r", offset=place, shape=tuple(shape) or (1,))
        return _Tensor(array, kind == "BF16")


class _Tensor:
    """A tensor on the disk. Numbers of 16 bits with a long exponent (BF16) are half of a float of 32."""

    def __init__(self, array: Any, wide: bool) -> None:
        self._array, self._wide = array, wide
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.ndim, self.bytes = int(array.ndim), int(array.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: Any) -> np.ndarray:
        found = np.asarray(self._array[part])
        return (found.astype(np.uint32) << 16).view(np.float32) if self._wide else found


def _compressed(starts: _Tensor, indices: _Tensor, values: _Tensor, size: Shape) -> Iterator[Nonzeros]:
    if not (starts.ndim == indices.ndim == values.ndim == 1 and len(starts)):
        raise ValueError("its compressed rows are no lists")
    if int(starts[-1:][0]) != len(indices):  # nothing else says how many rows there are: none is left out
        raise EOFError("its starts of rows and its entries do not fit together")
    shape = (len(starts) - 1, None) if size[0] is None else size
    yield from compressed_parts(starts[:], indices, values, shape, by_rows=True)


def _largest(indices: _Tensor, values: _Tensor) -> Iterator[Nonzeros]:
    """The largest latents of each row; one of value zero is not active."""
    rows, k = indices.shape
    yield no_entries(0 if k else rows)
    step = max(1, PART // max(k, 1))
    for start in range(0, rows if k else 0, step):
        end = min(start + step, rows)
        column = whole_numbers("its indices", indices[start:end].ravel())
        yield Nonzeros(
            np.repeat(np.arange(start, end), k), column, real_numbers(values[start:end].ravel()), end
        )
