"""Files of numpy and scipy: sparse matrices (.npz) read part by part from the archive, and tables (.npy)."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from typing import IO, Any, ClassVar

import numpy as np

from sparselaw.files import check_archive, check_bytes
from sparselaw.measuring.nonzeros import (
    Nonzeros,
    compressed_parts,
    parts_of_matrix,
    real_numbers,
    whole_numbers,
)
from sparselaw.measuring.readers.base import Reader

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
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

    def features(self) -> int:
        return int(self._table().shape[1])

    def rows(self) -> int:
        return int(self._table().shape[0])

    def parts(self) -> Iterator[Nonzeros]:
        yield from parts_of_matrix(self._table())


class NpzReader(Reader):
    """A matrix kept by ``scipy.sparse.save_npz``, of any of its formats."""

    name: ClassVar[str] = "npz"
    endings: ClassVar[tuple[str, ...]] = (".npz",)

    def features(self) -> int:
        return self._shape()[1]

    def rows(self) -> int:
        return self._shape()[0]

    def _shape(self) -> tuple[int, int]:
        with zipfile.ZipFile(self.path) as archive:
            return self._shape_in(archive)

    def _shape_in(self, archive: zipfile.ZipFile) -> tuple[int, int]:
        if not {"shape.npy", "format.npy"} <= set(archive.namelist()):
            raise self.refuse(*NO_MATRIX)
        shape = whole_numbers("its shape", self._array(archive, "shape"))
        if shape.size != 2 or (shape < 0).any():
            raise ValueError("its shape is not rows and columns")
        return int(shape[0]), int(shape[1])

    def parts(self) -> Iterator[Nonzeros]:
        check_archive(self.path)
        with zipfile.ZipFile(self.path) as archive:
            shape, kind = self._shape_in(archive), _word(self._array(archive, "format"))
            if kind in ("csr", "csc"):
                starts = self._array(archive, "indptr")
                with archive.open("indices.npy") as indices, archive.open("data.npy") as data:
                    columns = _Column(indices), _Column(data)
                    yield from compressed_parts(starts, *columns, shape, by_rows=kind == "csr")
            elif kind in ("coo", "dia", "bsr"):
                build = {"coo": _coordinates, "dia": _diagonals, "bsr": _blocks}[kind]
                row, column, value = build(lambda name: self._array(archive, name), shape)
                yield Nonzeros(row, column, real_numbers(value), *shape)
            else:
                raise self.refuse(*NO_MATRIX)

    def _array(self, archive: zipfile.ZipFile, name: str) -> np.ndarray:
        """One array of the archive, whole; what its header says is held against the size of the member."""
        member = archive.getinfo(f"{name}.npy")
        with archive.open(member) as file:
            shape, fortran, dtype = _header(file)
            size = math.prod(shape) * dtype.itemsize
            if size > member.file_size:
                raise EOFError(f"array {name} ends early")
            check_bytes(self.path, size, f"array {name}", self.path.stat().st_size)
            data = file.read(size)
        if len(data) < size:
            raise EOFError(f"array {name} ends early")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


class _Column:
    """A one-dimensional array in an archive, read from its start to its end by slices."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        shape, _, self._dtype = _header(file)
        if len(shape) != 1:
            raise ValueError("its entries are no list")
        self._size, self._at = shape[0], 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> np.ndarray:
        if part.start != self._at:
            raise ValueError("its entries are not read in order")
        size = (part.stop - part.start) * self._dtype.itemsize
        data = self._file.read(size)
        if len(data) < size:
            raise EOFError("an array ends early")
        self._at = part.stop
        return np.frombuffer(data, self._dtype)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    opened: Any = file
    version = np.lib.format.read_magic(opened)
    if version not in HEADERS:
        raise ValueError(f"an array of format {version}")
    shape, fortran, dtype = HEADERS[version](opened)
    if dtype.hasobject or dtype.itemsize == 0 or any(side < 0 for side in shape):
        raise ValueError("an array that does not hold numbers")
    return shape, fortran, dtype


def _word(array: np.ndarray) -> str:
    if array.size != 1 or array.dtype.kind not in "SU":
        return ""
    found: Any = array.reshape(-1)[0]
    return str(found.decode("ascii", "replace") if isinstance(found, bytes) else found)


Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


def _coordinates(array: Any, _shape: tuple[int, int]) -> Triple:
    return whole_numbers("its rows", array("row")), whole_numbers("its columns", array("col")), array("data")


def _diagonals(array: Any, shape: tuple[int, int]) -> Triple:
    """data[k, j] is the entry of row j - offsets[k] and column j."""
    offsets, data = whole_numbers("its offsets", array("offsets")), array("data")
    if data.ndim != 2 or data.shape[0] != offsets.size:
        raise ValueError("its diagonals and offsets do not fit together")
    column = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    row = column - offsets[:, None]
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1]) & (data != 0)
    return row[inside], column[inside], data[inside]


def _blocks(array: Any, shape: tuple[int, int]) -> Triple:
    """Compressed rows of small dense blocks."""
    data = array("data")
    if data.ndim != 3 or 0 in data.shape[1:] or shape[0] % data.shape[1] or shape[1] % data.shape[2]:
        raise ValueError("its blocks do not fit into its shape")
    high, wide = data.shape[1:]
    starts, indices = array("indptr"), array("indices")
    places = np.arange(len(data))
    of_blocks = (shape[0] // high, shape[1] // wide)
    found = list(compressed_parts(starts, indices, places, of_blocks, by_rows=True))
    row = np.concatenate([part.row for part in found])
    column = np.concatenate([part.column for part in found])
    block = np.concatenate([part.value for part in found]).astype(np.int64)
    rows = np.broadcast_to(row[:, None, None] * high + np.arange(high)[:, None], (row.size, high, wide))
    columns = np.broadcast_to(column[:, None, None] * wide + np.arange(wide), (row.size, high, wide))
    return rows.ravel(), columns.ravel(), data[block].ravel()
