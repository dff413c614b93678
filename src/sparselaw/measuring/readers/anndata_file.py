"""AnnData files (.h5ad): the matrix X, cells in rows, genes in columns, read part by part from the disk."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import PART, Reader
from sparselaw.measuring.readers.matrices import parts_of_matrix

ROWS = 1 << 16


class AnnDataReader(Reader):
    """Kept by rows it is streamed; kept by columns it is read whole."""

    name: ClassVar[str] = "h5ad"
    endings: ClassVar[tuple[str, ...]] = (".h5ad",)

    def _open(self) -> Any:
        if find_spec("h5py") is None:
            raise self.refuse("needs h5py", "pip install 'sparselaw[h5ad]'")
        file = import_module("h5py").File(self.path, "r")
        if "X" not in file:
            raise self.refuse("has no matrix X", "write it with anndata")
        return file

    def _shape(self) -> tuple[int, int]:
        with self._open() as file:
            x = file["X"]
            shape = x.attrs["shape"] if hasattr(x, "keys") else x.shape
            return int(shape[0]), int(shape[1])

    def rows(self) -> int:
        return self._shape()[0]

    def features(self) -> int:
        return self._shape()[1]

    def parts(self) -> Iterator[Nonzeros]:
        rows, columns = self._shape()
        with self._open() as file:
            x = file["X"]
            if not hasattr(x, "keys"):
                yield from _dense(x, rows, columns)
                return
            kind = x.attrs.get("encoding-type", x.attrs.get("h5sparse_format", "csr_matrix"))
            kind = kind.decode() if isinstance(kind, bytes) else str(kind)
            if not kind.startswith("csr"):
                from scipy import sparse

                whole = (x["data"][:], x["indices"][:], x["indptr"][:])
                yield from parts_of_matrix(sparse.csc_matrix(whole, shape=(rows, columns)))
                return
            yield from _csr(x, rows)


def _csr(x: Any, rows: int) -> Iterator[Nonzeros]:
    starts = x["indptr"][:].astype(np.int64)
    if starts.size != rows + 1 or x["indices"].shape[0] < starts[-1]:
        raise EOFError("its arrays end early")
    done = 0
    while done < rows:
        end = int(np.searchsorted(starts, starts[done] + PART, side="right")) - 1
        end = min(max(end, done + 1), rows)
        inside = slice(int(starts[done]), int(starts[end]))
        row = np.repeat(np.arange(done, end), np.diff(starts[done : end + 1]))
        yield Nonzeros(row, x["indices"][inside], x["data"][inside].astype(np.float64), end)
        done = end


def _dense(x: Any, rows: int, columns: int) -> Iterator[Nonzeros]:
    step = max(1, PART // max(columns, 1))
    for start in range(0, rows, step):
        for part in parts_of_matrix(x[start : start + step]):
            yield part.after(start)
