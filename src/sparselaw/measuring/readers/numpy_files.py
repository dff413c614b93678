"""Files of numpy and scipy: sparse matrices (.npz) read part by part from the archive, and tables (.npy)."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import IO, Any, ClassVar

import numpy as np

from sparselaw.files import check_archive
from sparselaw.measuring.nonzeros import (
    Nonzeros,
    compressed_parts,
    parts_of_matrix,
    real_numbers,
    whole_numbers,
)
from sparselaw.measuring.readers.base import Reader, two_sizes

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
OTHERS = {"coo": ("row", "col"), "dia": ("offsets",), "bsr": ("indices", "indptr")}  # and their indices
NO_MATRIX = ("holds no scipy sparse matrix", "write it with scipy.sparse.save_npz")


class NpyReader(Reader):
    """A table kept by ``numpy.save``, most of it zeros."""

    name: ClassVar[str] = "npy"
    endings: ClassVar[tuple[str, ...]] = (".npy",)

    def _table(self) -> Any:
        table = np.load(self.path, mmap_mode="r", allow_pickle=False)
        if getattr(table, "ndim", 0) != 2:
            dimensions = getattr(table, "ndim", "no")
            raise self.refuse(
                f"has {dimensions} dimensions, not rows and features", "save a table with a row a sample"
            )
        return table

    def shape(self) -> tuple[int, int]:
        return two_sizes(self._table().shape)

    def parts(self) -> Iterator[Nonzeros]:
        yield from parts_of_matrix(self._table())


class NpzReader(Reader):
    """A matrix kept by ``scipy.sparse.save_npz``, of any of its formats; compressed ones part by part."""

    name: ClassVar[str] = "npz"
    endings: ClassVar[tuple[str, ...]] = (".npz",)

    def shape(self) -> tuple[int, int]:
        with zipfile.ZipFile(self.path) as archive:
            if not {"shape.npy", "format.npy"} <= set(archive.namelist()):
                raise self.refuse(*NO_MATRIX)
            return two_sizes(_whole(archive, "shape"))

    def parts(self) -> Iterator[Nonzeros]:
        check_archive(self.path)
        shape = self.shape()
        with zipfile.ZipFile(self.path) as archive:
            word = _whole(archive, "format")
            kind = str(word.astype("U").item()) if word.size == 1 and word.dtype.kind in "SU" else ""
            if kind in ("csr", "csc"):
                starts = _whole(archive, "indptr")
                with archive.open("indices.npy") as indices, archive.open("data.npy") as data:
                    columns = _Array(indices), _Array(data)
                    yield from compressed_parts(starts, *columns, shape, by_rows=kind == "csr")
            elif kind in OTHERS:
                for name in OTHERS[kind]:
                    whole_numbers(f"its {name}", _whole(archive, name))
                yield self._at_once(kind)
            else:
                raise self.refuse(*NO_MATRIX)

    def _at_once(self, kind: str) -> Nonzeros:
        sparse: Any = import_module("scipy.sparse")
        matrix = sparse.load_npz(self.path)
        real_numbers(matrix.data)
        if kind == "bsr":  # the loops of scipy trust their indices
            matrix.check_format(full_check=True)
        found = matrix.tocoo()
        return Nonzeros(found.row, found.col, real_numbers(found.data), *found.shape)


def _whole(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array of the archive; what its header says is held against the size of the member."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        array = _Array(file)
        if array.size * array.dtype.itemsize > member.file_size:
            raise EOFError(f"array {name} ends early")
        return array[: array.size].reshape(array.shape, order="F" if array.fortran else "C")


class _Array:
    """An array in an archive, read from its start to its end by slices."""

    def __init__(self, file: IO[bytes]) -> None:
        opened: Any = file
        version = np.lib.format.read_magic(opened)
        if version not in HEADERS:
            raise ValueError(f"an array of format {version}")
        self.shape, self.fortran, self.dtype = HEADERS[version](opened)
        if self.dtype.hasobject or self.dtype.itemsize == 0 or any(side < 0 for side in self.shape):
            raise ValueError("an array that does not hold numbers")
        self.size, self._file, self._at = math.prod(self.shape), file, 0

    def __len__(self) -> int:
        if len(self.shape) != 1:
            raise ValueError("its entries are no list")
        return self.size

    def __getitem__(self, part: slice) -> np.ndarray:
        start = part.start or 0
        if start != self._at:
            raise ValueError("its entries are not read in order")
        size = (part.stop - start) * self.dtype.itemsize
        data = self._file.read(size)
        if len(data) < size:
            raise EOFError("an array ends early")
        self._at = part.stop
        return np.frombuffer(data, self.dtype)
