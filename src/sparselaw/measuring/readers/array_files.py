"""Files of arrays, read part by part: numpy's tables (.npy), scipy's matrices (.npz) and AnnData (.h5ad)."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from sparselaw.files import check_archive, check_bytes
from sparselaw.measuring.nonzeros import (
    Nonzeros,
    compressed_parts,
    no_entries,
    parts_of_matrix,
    real_numbers,
    whole_numbers,
)
from sparselaw.measuring.readers.base import FeatureFile, two_sizes


def read_npy(file: FeatureFile) -> Iterator[Nonzeros]:
    """A table kept by ``numpy.save``, most of it zeros."""
    with np.errstate(over="raise"):  # sizes whose product is no number
        table = np.load(file.path, mmap_mode="r", allow_pickle=False)
    yield from parts_of_matrix(table)


HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
OTHERS = {"coo": ("row", "col"), "dia": ("offsets",), "bsr": ("indices", "indptr")}  # and their indices


def read_npz(file: FeatureFile) -> Iterator[Nonzeros]:
    """A matrix kept by ``scipy.sparse.save_npz``, of any of its formats; compressed ones part by part."""
    check_archive(file.path)
    with zipfile.ZipFile(file.path) as archive:
        known = {"shape.npy", "format.npy"} <= set(archive.namelist())
        kind = str(_Array(archive, "format").whole().astype("U").item()) if known else ""
        if kind not in ("csr", "csc", *OTHERS):
            raise file.refuse("holds no scipy sparse matrix", "write it with scipy.sparse.save_npz")
        shape = two_sizes(_Array(archive, "shape").whole())
        yield no_entries(*shape)
        if kind not in OTHERS:
            starts, indices, data = (_Array(archive, name) for name in ("indptr", "indices", "data"))
            yield from compressed_parts(starts.whole(), indices, data, shape, by_rows=kind == "csr")
            return
        for name in OTHERS[kind]:
            whole_numbers(f"its {name}", _Array(archive, name).whole())
    sparse: Any = import_module("scipy.sparse")
    matrix = sparse.load_npz(file.path)
    real_numbers(matrix.data)
    if kind == "bsr":  # the loops of scipy trust their indices
        matrix.check_format(full_check=True)
    yield from parts_of_matrix(matrix.tocoo())


class _Array:
    """An array in an archive, read from its start to its end by slices.

    What its header says is held against the size of the member.
    """

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        member = archive.getinfo(f"{name}.npy")
        self._file: Any = archive.open(member)
        version = np.lib.format.read_magic(self._file)
        if version not in HEADERS:
            raise ValueError(f"an array of format {version}")
        self.shape, self.fortran, self.dtype = HEADERS[version](self._file)
        if self.dtype.hasobject or self.dtype.itemsize == 0 or any(side < 0 for side in self.shape):
            raise ValueError("an array that does not hold numbers")
        if math.prod(self.shape) * self.dtype.itemsize > member.file_size:
            raise EOFError(f"array {name} ends early")

    def __len__(self) -> int:
        if len(self.shape) != 1:
            raise ValueError("its entries are no list")
        return int(self.shape[0])

    def __getitem__(self, part: slice) -> np.ndarray:
        size = (part.stop - part.start) * self.dtype.itemsize
        return np.frombuffer(self._file.read(size), self.dtype)

    def whole(self) -> np.ndarray:
        return self[0 : math.prod(self.shape)].reshape(self.shape, order="F" if self.fortran else "C")


SHAPES = ("shape", "h5sparse_shape")  # the attribute, by newer and older writers
KINDS = ("encoding-type", "h5sparse_format")


def read_h5ad(file: FeatureFile) -> Iterator[Nonzeros]:
    """AnnData: the matrix X, cells in rows, genes in columns; dense, or compressed by rows or columns."""
    h5py = file.library("h5py", "h5ad")
    with h5py.File(file.path, "r") as opened:
        if "X" not in opened or isinstance(opened.get("X", getlink=True), h5py.ExternalLink):
            raise file.refuse("has no matrix X of its own", "write it with anndata")
        x = opened["X"]
        if not hasattr(x, "keys"):
            yield from parts_of_matrix(_checked(file, x, 2))
            return
        shape = two_sizes(next((x.attrs[name] for name in SHAPES if name in x.attrs), 0))
        starts, indices, data = (_checked(file, x[name], 1) for name in ("indptr", "indices", "data"))
        kind = next((x.attrs[name] for name in KINDS if name in x.attrs), "csr_matrix")
        kind = kind.decode("utf-8", "replace") if isinstance(kind, bytes) else str(kind)
        if not kind.startswith(("csr", "csc")):
            raise file.refuse(f"keeps X as {kind[:40]}", "write it as a csr_matrix or csc_matrix")
        yield from compressed_parts(starts[:], indices, data, shape, by_rows=kind.startswith("csr"))


def _checked(file: FeatureFile, dataset: Any, dimensions: int) -> Any:
    """A dataset may promise more than the file holds, which reads as zeros, or lie in another file."""
    if len(getattr(dataset, "shape", None) or ()) != dimensions:
        raise ValueError(f"{dataset.name} has not {dimensions} dimensions")
    if dataset.external or dataset.is_virtual or dataset.file.filename != str(file.path):
        raise file.refuse(f"keeps {dataset.name} in another file", "write all of it into one")
    size = math.prod(dataset.shape) * dataset.dtype.itemsize
    check_bytes(file.path, size, f"its {dataset.name}", dataset.id.get_storage_size())
    return dataset
