"""AnnData files (.h5ad): the matrix X, cells in rows, genes in columns, read part by part from the disk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

from sparselaw.files import check_bytes
from sparselaw.measuring.nonzeros import Nonzeros, compressed_parts, parts_of_matrix
from sparselaw.measuring.readers.base import Reader, two_sizes

SHAPES = ("shape", "h5sparse_shape")  # the attribute, by newer and older writers
KINDS = ("encoding-type", "h5sparse_format")


class H5adReader(Reader):
    """X may be dense, or compressed by rows or columns; each is streamed."""

    name: ClassVar[str] = "h5ad"
    endings: ClassVar[tuple[str, ...]] = (".h5ad",)

    def shape(self) -> tuple[int, int]:
        with self._open() as file:
            return _shape(file["X"])

    def parts(self) -> Iterator[Nonzeros]:
        with self._open() as file:
            x = file["X"]
            shape = _shape(x)
            if not hasattr(x, "keys"):
                yield from parts_of_matrix(self._check(x))
                return
            starts, indices, data = (self._check(x[name], 1) for name in ("indptr", "indices", "data"))
            kind = next((x.attrs[name] for name in KINDS if name in x.attrs), "csr_matrix")
            kind = kind.decode("utf-8", "replace") if isinstance(kind, bytes) else str(kind)
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

    def _check(self, dataset: Any, dimensions: int = 2) -> Any:
        """A dataset may promise more than the file holds: what is not there reads as zeros."""
        if len(getattr(dataset, "shape", None) or ()) != dimensions:
            raise ValueError(f"{dataset.name} has not {dimensions} dimensions")
        size = math.prod(dataset.shape) * dataset.dtype.itemsize
        check_bytes(self.path, size, f"its {dataset.name}", dataset.id.get_storage_size())
        return dataset


def _shape(x: Any) -> tuple[int, int]:
    if hasattr(x, "keys"):
        return two_sizes(next((x.attrs[name] for name in SHAPES if name in x.attrs), 0))
    return two_sizes(getattr(x, "shape", None) or 0)
