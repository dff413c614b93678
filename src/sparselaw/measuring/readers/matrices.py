"""Matrices: of scipy and numpy in memory, and compressed rows or columns from any file, checked first.

Index arrays of a file are looked at before anything is built of them: scipy's own loops trust them, and read
or write beyond their memory where they are wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.measuring.nonzeros import Nonzeros, no_entries, real_numbers, whole_numbers
from sparselaw.measuring.readers.base import PART


def parts_of_matrix(matrix: Any) -> Iterator[Nonzeros]:
    """The rows of one matrix in memory."""
    sparse: Any = import_module("scipy.sparse")

    if sparse.issparse(matrix):
        if matrix.ndim != 2:
            raise _no_table(matrix.ndim)
        if matrix.format in ("csr", "csc"):
            arrays = (matrix.indptr, matrix.indices, matrix.data)
            yield from compressed_parts(*arrays, matrix.shape, by_rows=matrix.format == "csr")
        else:
            matrix = matrix.tocoo()
            yield Nonzeros(matrix.row, matrix.col, matrix.data, *matrix.shape)
        return
    array = np.asarray(matrix)
    if array.ndim != 2:
        raise _no_table(array.ndim)
    real_numbers(array[:0, :0])  # its kind
    step = max(1, PART // max(1, array.shape[1]))
    if not array.size:
        yield no_entries(array.shape[0])
        return
    for start in range(0, array.shape[0], step):
        part = np.asarray(array[start : start + step])
        row, column = np.nonzero(part)
        value = part[row, column].astype(np.float64)
        yield Nonzeros(row + start, column, value, min(start + step, array.shape[0]))


def parts_of_blocks(blocks: Iterable[Any]) -> Iterator[Nonzeros]:
    """The rows of matrices that come one after the other."""
    done, width = 0, None
    for block in blocks:
        if not hasattr(block, "shape") or len(block.shape) != 2:
            raise InputError(
                "matrix", type(block).__name__, "is not a block of rows", "give scipy matrices or arrays"
            )
        if width is not None and block.shape[1] != width:
            raise InputError(
                "matrix", block.shape[1], f"is another number of features than {width}, of the block before",
                "give blocks of the same features",
            )  # fmt: skip
        width = block.shape[1]
        for part in parts_of_matrix(block):
            yield replace(part.after(done), features=width)
        done += block.shape[0]


def compressed_parts(
    starts: Any, indices: Any, data: Any, shape: tuple[int, int], *, by_rows: bool
) -> Iterator[Nonzeros]:
    """The entries of compressed rows, or columns, in parts of whole ones.

    ``indices`` and ``data`` may be anything that is cut by slices from its start to its end: arrays, datasets
    on disk, members of an archive.
    """
    rows, columns = shape
    lines, others = (rows, columns) if by_rows else (columns, rows)
    edges = whole_numbers("its starts of rows or columns", starts)
    if edges.size != lines + 1:
        raise ValueError(f"{edges.size} starts of {lines} rows or columns")
    if edges[0] != 0 or (np.diff(edges) < 0).any():
        raise ValueError("its starts of rows or columns fall, or do not begin at 0")
    if len(indices) != len(data) or int(edges[-1]) > len(indices):
        raise EOFError("its starts of rows or columns reach beyond its entries")
    yield no_entries(0 if by_rows else rows)
    done = 0
    while done < lines:
        end = int(np.searchsorted(edges, edges[done] + PART, side="right")) - 1
        end = min(max(end, done + 1), lines)
        inside = slice(int(edges[done]), int(edges[end]))
        line = np.repeat(np.arange(done, end), np.diff(edges[done : end + 1]))
        other, value = whole_numbers("its indices", indices[inside]), real_numbers(data[inside])
        if other.size and (int(other.min()) < 0 or int(other.max()) >= others):
            wrong = int(other.min()) if int(other.min()) < 0 else int(other.max())
            name = "feature" if by_rows else "row"
            raise InputError(name, wrong, f"is no index of one of {others}", "write the matrix again")
        if by_rows:
            yield Nonzeros(line, other, value, end, columns)
        else:
            yield Nonzeros(other, line, value, rows, columns)
        done = end


def _no_table(dimensions: int) -> InputError:
    return InputError(
        "matrix", f"an array of {dimensions} dimensions", "is not a table of rows and features",
        "give a matrix with a row a sample",
    )  # fmt: skip
