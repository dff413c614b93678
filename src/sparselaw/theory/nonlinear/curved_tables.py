"""The kernel of an odd part that is not linear, of dense inputs, with the coordinates among its functions.

By parity in the first q coordinates, as in ``gaussian_tables``. A function that is odd in an odd number of
them is even in the others together: there x_1 ... x_q are vectors on the points, of length v_j^(1/2). One
that is odd in an even number of them is odd in the others together, and since those are faint it is linear in
one of them, x_j h, with the kernel x_j y_j E f'(u x) f'(u y): v_j times that of the slope f' between the
functions h. So every faint coordinate has the same small matrix, and x_j is the function h = 1 of it.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.sums.power_sums import power_sum
from sparselaw.theory.nonlinear.gaussian_tables import gaussian_points, gaussian_table, walsh
from sparselaw.theory.nonlinear.kept_arrays import kept_arrays
from sparselaw.theory.nonlinear.response import DensePairs, Part
from sparselaw.theory.nonlinear.sector_tables import Group, SectorTable
from sparselaw.theory.nonlinear.unit_types import Types

LEADING, FAINT_LEADING, FAINT_OTHERS = 32, 24, 6  # directions of a sector that have a matrix
FAINTEST = 1e-9  # the variance of the last coordinate that has a matrix
ALONE, RATIO = 12, 1.25  # coordinates with a matrix of their own, and the ends of cells of others


def curved_table(
    inputs: Inputs, parts: tuple[Part, ...], n: int, reflected: int, types: Types
) -> SectorTable:
    """The table on n points; an even part has that of ``gaussian_tables`` beside it."""
    groups: list[Group] = []
    for part in parts:
        if part.targets:
            groups += _groups(inputs, part, n, reflected, types)
        else:
            groups += gaussian_table(inputs, part, n, reflected, types).groups
    return SectorTable(cutoff=1e-3, types=types, groups=tuple(groups))


def _groups(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> list[Group]:
    identity = {
        "curved": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "points of variance one": [n, reflected, LEADING, FAINT_LEADING, FAINT_OTHERS],
        "types": [types.first, types.other, list(types.weights.shape)],
        **part.identity,
    }
    kept = kept_arrays(identity, lambda: _arrays(inputs, part, n, reflected, types))
    shape = types.weights.shape
    found = {name: kept[name].reshape(*kept[name].shape[:-1], *shape) for name in NAMES}
    groups = [Group(alike=np.ones(len(found["own"])), kernel=found["own"], target=kept["target"])]
    for name in ("several", "rest"):
        groups += [Group(alike=np.ones(len(found[name])), kernel=found[name])] * (found[name].size > 0)
    variances, counts = faint_cells(inputs, reflected)
    for name in ("faint", "faint_others"):
        for matrix in found[name] if variances.size else ():
            kernel = variances[:, None, None, None, None] * matrix
            target = np.outer(np.sqrt(variances), kept["ones"]) if name == "faint" else None
            groups.append(Group(alike=counts, kernel=kernel, target=target))
    return groups


NAMES = ("own", "several", "rest", "faint", "faint_others")


def _arrays(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> dict[str, Any]:
    """Matrices by sector: those of one coordinate whole, with the coordinate; of others the leading ones."""
    X = gaussian_points(inputs, n)
    every = inputs.variances(np.arange(1.0, X.shape[1] + 1.0))
    X = X * np.sqrt(every / np.mean(X**2, axis=0))  # their variances exactly, as linear features need them
    q = min(reflected, X.shape[1])
    head, tail = np.abs(X[:, :q]), X[:, q:]
    grid = np.stack([x.ravel() for x in np.meshgrid(*types.nodes, indexing="ij")], axis=1)
    pairs = DensePairs(head, tail @ tail.T, grid, (types.first, types.other))
    whole, slopes = (walsh(part.reflected(pairs, slope), q) / ((1 << q) * n) for slope in (False, True))
    odd = [bits for bits in range(1 << q) if bits.bit_count() % 2 == 1]
    even = [bits for bits in range(1 << q) if bits.bit_count() % 2 == 0]
    single = [1 << j for j in range(q)]
    targets = head.T * n**-0.5
    weights = types.weights.ravel()
    several = [_leading(whole[bits], weights, LEADING) for bits in odd if bits not in single]
    faint = _leading(slopes[0], weights, FAINT_LEADING, np.full(n, n**-0.5))
    others = [_leading(slopes[bits], weights, FAINT_OTHERS)[0] for bits in even if bits]
    none = np.zeros((0, 1, 1, weights.size))
    rest_of = np.concatenate([diagonal for _, diagonal, _ in several])[:, None, None] if several else none
    return {
        "own": whole[single],
        "target": targets,
        "several": np.stack([matrix for matrix, _, _ in several]) if several else none,
        "rest": np.maximum(rest_of, 0.0),
        "faint": faint[0][None],
        "ones": faint[2],
        "faint_others": np.stack(others) if others else none,
    }


def _leading(
    kernel: FloatArray, weights: FloatArray, count: int, function: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """In the eigenvectors of the mean over types: the matrix, the diagonal of the rest, and a function."""
    vectors = np.linalg.eigh(kernel @ weights)[1][:, ::-1]
    first, rest = vectors[:, :count], vectors[:, count:]
    matrix = np.einsum("ai,abt,bj->ijt", first, kernel, first, optimize=True)
    diagonal = np.einsum("ai,abt,bi->it", rest, kernel, rest, optimize=True)
    found = first.T @ function if function is not None else np.zeros(count)
    return matrix, diagonal, found


@functools.lru_cache(maxsize=64)
def faint_cells(inputs: Inputs, after: int) -> tuple[FloatArray, FloatArray]:
    """Variances and numbers of the coordinates beyond ``after``, in cells, down to the faintest."""
    a, first = inputs.spectrum, after + 1.0
    last = min(inputs.dimension, FAINTEST ** (-1.0 / a))
    variances, counts = [], []
    while first <= last:
        end = first if first <= ALONE else min(max(first, np.floor(first * RATIO) - 1.0), np.floor(last))
        counts.append(end - first + 1.0)
        variances.append(power_sum(a, int(first), float(end)) / counts[-1])
        first = end + 1.0
    return np.array(variances), np.array(counts)
