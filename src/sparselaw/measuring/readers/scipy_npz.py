"""Sparse matrices kept by ``scipy.sparse.save_npz``. Rows are read part by part from a CSR file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import IO, Any, ClassVar

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import PART, Reader
from sparselaw.measuring.readers.matrices import parts_of_matrix

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpzReader(Reader):
    name: ClassVar[str] = "npz"
    endings: ClassVar[tuple[str, ...]] = (".npz",)

    def _shape(self) -> tuple[int, int]:
        with np.load(self.path, allow_pickle=False) as file:
            if "shape" not in file or "format" not in file:
                raise self.refuse("holds no scipy sparse matrix", "write it with scipy.sparse.save_npz")
            rows, columns = (int(v) for v in file["shape"])
        return rows, columns

    def features(self) -> int:
        return self._shape()[1]

    def rows(self) -> int:
        return self._shape()[0]

    def parts(self) -> Iterator[Nonzeros]:
        rows = self._shape()[0]
        with np.load(self.path, allow_pickle=False) as file:
            kind = file["format"].item()
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        if kind != "csr":  # its rows are scattered over the file
            from scipy import sparse

            yield from parts_of_matrix(sparse.load_npz(self.path))
            return
        with (
            zipfile.ZipFile(self.path) as archive,
            archive.open("indptr.npy") as starts,
            archive.open("indices.npy") as indices,
            archive.open("data.npy") as data,
        ):
            yield from _csr_parts(_Column(starts), _Column(indices), _Column(data), rows)


def _csr_parts(starts: _Column, indices: _Column, data: _Column, rows: int) -> Iterator[Nonzeros]:
    """The rows of three arrays that are read side by side."""
    if starts.size != rows + 1 or indices.size != data.size:
        raise ValueError("its arrays do not fit together")
    before, done = int(starts.take(1)[0]), 0
    if before != 0:
        raise ValueError("its rows do not start at 0")
    step = 1 << 16
    while done < rows:
        ends = starts.take(min(step, rows - done)).astype(np.int64)
        if (np.diff(ends, prepend=before) < 0).any() or ends[-1] > indices.size:
            raise ValueError("its row starts fall")
        count = int(ends[-1]) - before
        lengths = np.diff(ends, prepend=before)
        row = np.repeat(np.arange(done, done + ends.size), lengths)
        at = 0
        while at < count:
            size = min(PART, count - at)
            column, value = indices.take(size), data.take(size)
            yield Nonzeros(row[at : at + size], column, value.astype(np.float64), done + ends.size)
            at += size
        before, done = int(ends[-1]), done + ends.size
        if not count:
            yield Nonzeros(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), done)


class _Column:
    """A one-dimensional .npy file inside an archive, read from its start to its end."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file: Any = file
        version = np.lib.format.read_magic(self._file)
        shape, _, self._dtype = HEADERS[version](self._file)
        self.size = int(np.prod(shape))

    def take(self, count: int) -> np.ndarray:
        data = self._file.read(count * self._dtype.itemsize)
        if len(data) < count * self._dtype.itemsize:
            raise EOFError("an array ends early")
        return np.frombuffer(data, self._dtype)
