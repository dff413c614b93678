"""Matrices in memory: of scipy, of numpy, or an iterable of either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import PART


def parts_of_matrix(matrix: Any) -> Iterator[Nonzeros]:
    """The rows of one matrix."""
    sparse: Any = import_module("scipy.sparse")

    if sparse.issparse(matrix):
        rows: Any = sparse.csr_matrix(matrix)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        yield from _of_csr(rows)
        return
    array = np.asarray(matrix)
    if array.ndim != 2:
        raise InputError(
            "matrix", f"an array of {array.ndim} dimensions", "is not a table of rows and features",
            "give a matrix with a row a sample",
        )  # fmt: skip
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise InputError("matrix", array.dtype, "does not hold numbers", "give numbers")
    if np.iscomplexobj(array):
        raise InputError("matrix", array.dtype, "holds complex numbers", "give real ones")
    step = max(1, PART // max(1, array.shape[1]))
    for start in range(0, max(1, array.shape[0]), step):
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


def _of_csr(matrix: Any) -> Iterator[Nonzeros]:
    starts = matrix.indptr.astype(np.int64)
    done, rows = 0, matrix.shape[0]
    if not rows:
        yield Nonzeros(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), 0)
    while done < rows:
        end = int(np.searchsorted(starts, starts[done] + PART, side="right")) - 1
        end = min(max(end, done + 1), rows)
        inside = slice(starts[done], starts[end])
        row = np.repeat(np.arange(done, end), np.diff(starts[done : end + 1]))
        if np.iscomplexobj(matrix.data):
            raise InputError("matrix", matrix.dtype, "holds complex numbers", "give real ones")
        yield Nonzeros(row, matrix.indices[inside], matrix.data[inside].astype(np.float64), end)
        done = end
