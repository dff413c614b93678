"""AnnData files (.h5ad): the matrix X, cells in rows, genes in columns, read part by part from the disk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from sparselaw.files import check_bytes
from sparselaw.measuring.nonzeros import (
    Nonzeros,
    compressed_parts,
    parts_of_matrix,
    whole_numbers,
)
from sparselaw.measuring.readers.base import Reader

SHAPES = ("shape", "h5sparse_shape")  # the attribute, by newer and older writers
KINDS = ("encoding-type", "h5sparse_format")


class H5adReader(Reader):
    """X may be dense, or compressed by rows or columns; each is streamed."""

    name: ClassVar[str] = "h5ad"
    endings: ClassVar[tuple[str, ...]] = (".h5ad",)

    def rows(self) -> int:
        with self._open() as file:
            return self._shape(file)[0]

    def features(self) -> int:
        with self._open() as file:
            return self._shape(file)[1]

    def parts(self) -> Iterator[Nonzeros]:
        with self._open() as file:
            x, (rows, columns) = file["X"], self._shape(file)
            if not hasattr(x, "keys"):
                yield from parts_of_matrix(self._check(x))
                return
            arrays = [self._array(x, name) for name in ("indptr", "indices", "data")]
            kind = next((_text(x.attrs[name]) for name in KINDS if name in x.attrs), "csr_matrix")
            starts, indices, data = arrays
            shape = (rows, columns)
            yield from compressed_parts(starts[:], indices, data, shape, by_rows=not kind.startswith("csc"))

    def _open(self) -> Any:
        if find_spec("h5py") is None:
            raise self.refuse("needs h5py", "pip install 'sparselaw[h5ad]'")
        h5py = import_module("h5py")
        file = h5py.File(self.path, "r")
        link = file.get("X", getlink=True) if "X" in file else None
        if link is None or isinstance(link, h5py.ExternalLink):
            file.close()
            raise self.refuse("has no matrix X of its own", "write it with anndata")
        return file

    def _shape(self, file: Any) -> tuple[int, int]:
        x = file["X"]
        if hasattr(x, "keys"):
            shape = next((x.attrs[name] for name in SHAPES if name in x.attrs), ())
        else:
            shape = getattr(x, "shape", None)
        shape = () if shape is None else shape
        found = whole_numbers("the shape of X", np.asarray(shape, dtype=None if len(shape) else np.int64))
        if found.size != 2 or (found < 0).any():
            raise ValueError("X is no table of rows and features")
        return int(found[0]), int(found[1])

    def _array(self, group: Any, name: str) -> Any:
        found = group[name]
        if len(getattr(found, "shape", None) or ()) != 1:
            raise ValueError(f"X/{name} is no list")
        return self._check(found)

    def _check(self, dataset: Any) -> Any:
        """A dataset may promise more than the file holds: what is not there reads as zeros."""
        size = math.prod(dataset.shape) * dataset.dtype.itemsize
        check_bytes(self.path, size, f"its {dataset.name}", dataset.id.get_storage_size())
        return dataset


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
