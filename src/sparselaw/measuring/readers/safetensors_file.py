"""Tensors of latents in safetensors files, as people who train sparse autoencoders store them.

The format is a length, a table of contents in JSON and the numbers themselves, so that no library is needed.
Understood are, by their names and shapes,

    locations (nonzeros, 2 or 3), activations (nonzeros): sample and feature, or batch, place and feature;
    indices and values of the same two-dimensional shape (rows, k): the k largest latents of each row;
    crow_indices (or indptr), col_indices (or indices) and values (or data): compressed rows;
    one two-dimensional tensor: rows and latents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from sparselaw.errors import InputError
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import PART, Reader
from sparselaw.measuring.readers.matrices import parts_of_matrix

KINDS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "i1", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?",
}  # fmt: skip
ACTIVATIONS = ("activations", "values", "top_acts", "acts", "data")
INDICES = ("indices", "top_indices", "col_indices")
STARTS = ("crow_indices", "indptr")


class SafetensorsReader(Reader):
    name: ClassVar[str] = "safetensors"
    endings: ClassVar[tuple[str, ...]] = (".safetensors",)

    def parts(self) -> Iterator[Nonzeros]:
        tensors = self._tensors()
        values = _first(tensors, ACTIVATIONS)
        indices, starts = _first(tensors, INDICES), _first(tensors, STARTS)
        if "locations" in tensors and values is not None:
            yield from self._located(tensors["locations"], values)
        elif starts is not None and indices is not None and values is not None:
            yield from _compressed(starts, indices, values)
        elif (
            indices is not None and values is not None and indices.shape == values.shape and indices.ndim == 2
        ):
            yield from _largest(indices, values)
        else:
            tables = [tensor for tensor in tensors.values() if tensor.ndim == 2]
            if len(tables) != 1:
                shown = ", ".join(f"{name} {list(t.shape)}" for name, t in list(tensors.items())[:6])
                raise self.refuse(
                    f"holds {shown}, and which are the latents is not clear",
                    "name them locations and activations, or indices and values",
                )
            yield from _table(tables[0].array)

    def _located(self, locations: _Tensor, values: _Tensor) -> Iterator[Nonzeros]:
        where = np.asarray(locations.array, dtype=np.int64)
        if where.ndim != 2 or where.shape[1] not in (2, 3) or len(where) != len(values.array):
            raise ValueError("locations and activations do not fit together")
        if where.size and where.min() < 0:
            raise InputError(
                "feature", int(where.min()), f"is a negative index in {self.path}", "count from 0"
            )
        sample = where[:, 0]
        if where.shape[1] == 3:
            sample = sample * (int(where[:, 1].max(initial=0)) + 1) + where[:, 1]
        yield Nonzeros(sample, where[:, -1], values.numbers(), int(sample.max(initial=-1)) + 1)

    def _tensors(self) -> dict[str, _Tensor]:
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            head = file.read(8)
            if len(head) < 8:
                raise EOFError("no table of contents")
            length = int.from_bytes(head, "little")
            if length > min(size - 8, 100 << 20):
                raise EOFError("its table of contents does not fit in it")
            contents = json.loads(file.read(length))
        start = 8 + length
        found = {}
        for name, entry in contents.items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            if start + last > size:
                raise EOFError(f"tensor {name} ends beyond the file")
            if entry["dtype"] not in KINDS:
                raise self.refuse(f"tensor {name} is of type {entry['dtype']}", "write it as F32")
            shape = tuple(entry["shape"])
            if not last > first:
                array: Any = np.empty(shape, KINDS[entry["dtype"]])
            else:
                array = np.memmap(
                    self.path, KINDS[entry["dtype"]], mode="r", offset=start + first, shape=shape or (1,)
                )
            found[name] = _Tensor(array, entry["dtype"] == "BF16")
        return found


class _Tensor:
    """A tensor on the disk. Numbers of 16 bits with a long exponent are half of a float of 32."""

    def __init__(self, array: Any, brain: bool) -> None:
        self._array, self._brain = array, brain
        self.shape, self.ndim = array.shape, array.ndim

    @property
    def array(self) -> Any:
        return _Wide(self._array) if self._brain else self._array

    def numbers(self, part: Any = slice(None)) -> np.ndarray:
        return np.asarray(self.array[part], dtype=np.float64)


class _Wide:
    def __init__(self, array: Any) -> None:
        self._array, self.shape, self.ndim = array, array.shape, array.ndim

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, part: Any) -> np.ndarray:
        return (np.asarray(self._array[part]).astype(np.uint32) << 16).view(np.float32)


def _first(tensors: dict[str, _Tensor], names: tuple[str, ...]) -> _Tensor | None:
    return next((tensors[name] for name in names if name in tensors), None)


def _compressed(starts: _Tensor, indices: _Tensor, values: _Tensor) -> Iterator[Nonzeros]:
    from scipy import sparse

    edges, column = np.asarray(starts.array, np.int64), np.asarray(indices.array, np.int64)
    width = int(column.max(initial=-1)) + 1
    if column.min(initial=0) < 0:
        raise InputError("feature", int(column.min()), "is a negative index", "count features from 0")
    yield from parts_of_matrix(
        sparse.csr_matrix((values.numbers(), column, edges), shape=(edges.size - 1, width))
    )


def _largest(indices: _Tensor, values: _Tensor) -> Iterator[Nonzeros]:
    """The largest latents of each row; one of value zero is not active."""
    rows, k = indices.shape
    step = max(1, PART // max(k, 1))
    for start in range(0, rows, step):
        column = np.asarray(indices.array[start : start + step], np.int64)
        value = values.numbers(slice(start, start + step))
        row = np.repeat(np.arange(start, start + len(column)), k)
        yield Nonzeros(row, column.ravel(), value.ravel(), start + len(column))


def _table(array: Any) -> Iterator[Nonzeros]:
    rows, columns = array.shape
    step = max(1, PART // max(columns, 1))
    for start in range(0, rows, step):
        for part in parts_of_matrix(np.asarray(array[start : start + step])):
            yield Nonzeros(part.row + start, part.column, part.value, start + part.rows, columns)
