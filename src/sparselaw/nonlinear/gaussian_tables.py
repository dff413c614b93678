"""The kernels of dense Gaussian inputs, by parity in the first coordinates and on points for the others.

Reflecting one coordinate leaves the law of the inputs as it is, so the kernel splits by parity in the first q
coordinates. In each of the 2^q sectors it is taken on n points, as an n x n matrix over n: as good as 2^q n
points. What the points leave out falls as 1/n, so that two sizes tell the limit. In a sector the leading
directions of the mean over types are a matrix for each type, the others numbers.

An even part has nothing more. An odd part that is not linear has the coordinates among its functions. One
that is odd in an odd number of the first coordinates is even in the others together: there x_1 ... x_q are
vectors on the points, of length v_j^(1/2). One that is odd in an even number of them is odd in the others
together, and since those are faint it is linear in one of them, x_j h, with the kernel x_j y_j E f'(u x) f'(u
y): v_j times that of the slope f' between the functions h. So every faint coordinate has the same small
matrix, and x_j is the function h = 1 of it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import power_sum
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.response import DensePairs, Part
from sparselaw.nonlinear.sector_tables import Group, SectorTable, Types
from sparselaw.nonlinear.table_cache import cached_arrays, identity_of

LONG = 300  # coordinates of a point; the rest is faint
LOW_DISCREPANCY = 16  # coordinates whose points are evenly placed
LEADING = 32  # directions of a sector that have a matrix
FAINT_LEADING, FAINT_OTHERS = 24, 6  # and of the sectors of a faint coordinate
FAINTEST = 1e-9  # the variance of the last coordinate that has a matrix
ALONE, RATIO = 12, 1.25  # coordinates with a matrix of their own, and the ends of cells of others
FINER = 2  # times as many points has the table that the main one is compared with
FURTHER = (2, 3, 4)  # coordinates whose |u_j| is resolved too; those of more act on each other
NODES, MAIN_NODES = (4, 4), (6, 1)  # of |u_1| and |u_j|
NAMES = ("own", "several", "rest", "faint", "faint_others")  # arrays of a curved table


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Points and reflected coordinates of the main table and of the coarse ones, good up to a size."""

    most: float
    main: tuple[int, int]
    coarse: tuple[int, int]


LEVELS = (
    Level(most=256.0, main=(96, 5), coarse=(48, 5)),
    Level(most=1024.0, main=(128, 6), coarse=(80, 5)),
)


def level_of(size: float) -> Level:
    """The first that is good for so many directions, or the last."""
    return next((level for level in LEVELS if size <= level.most), LEVELS[-1])


def gaussian_points(inputs: Inputs, n: int) -> FloatArray:
    """n samples (n, length): a Kronecker sequence in the first coordinates, drawn ones in the others."""
    from scipy.special import ndtri

    length = int(min(inputs.dimension, LONG))
    even = min(LOW_DISCREPANCY, length)
    root = 2.0
    for _ in range(60):  # root^(even + 1) = root + 1
        root = (1.0 + root) ** (1.0 / (even + 1.0))
    places = (0.5 + np.arange(1.0, n + 1.0)[:, None] * root ** -np.arange(1.0, even + 1.0)) % 1.0
    drawn = np.random.default_rng(20250919).standard_normal((n, length - even))
    points = np.concatenate([ndtri(places), drawn], axis=1)
    scaled: FloatArray = points * np.sqrt(inputs.variances(np.arange(1.0, length + 1.0)))
    return scaled


def point_pairs(X: FloatArray, reflected: int, types: Types) -> DensePairs:
    """The points in pairs, with so many coordinates reflected."""
    q = min(reflected, X.shape[1])
    head, tail = np.abs(X[:, :q]), X[:, q:]
    grid = np.stack([x.ravel() for x in np.meshgrid(*types.nodes, indexing="ij")], axis=1)
    return DensePairs(head, tail @ tail.T, grid, (types.first, types.other))


def sector_kernels(part: Part, pairs: DensePairs, slope: bool = False) -> FloatArray:
    """(2^q, n, n, types): the kernel in each sector, over n; with ``slope`` that of f'."""
    n, q = pairs.head.shape
    return np.asarray(walsh(part.reflected(pairs, slope), q) / ((1 << q) * n))


def walsh(kernels: FloatArray, q: int) -> FloatArray:
    """Sums over 2^q reflections with the signs of each parity."""
    for i in range(q):
        pairs = kernels.reshape(1 << (q - 1 - i), 2, 1 << i, *kernels.shape[1:])
        kernels = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        kernels = kernels.reshape(1 << q, *kernels.shape[3:])
    return kernels


def _even_groups(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> list[Group]:
    identity = {
        "gaussian": identity_of(inputs),
        "points": [n, reflected, LONG, LOW_DISCREPANCY, LEADING],
        "types": [types.first, types.other, list(types.weights.shape)],
        **part.identity,
    }

    def make() -> dict[str, FloatArray]:
        """Of each sector a matrix for the leading directions, the diagonal for others."""
        kernels = sector_kernels(part, point_pairs(gaussian_points(inputs, n), reflected, types))
        found = [_leading(kernel, types.weights.ravel(), LEADING) for kernel in kernels]
        others = np.concatenate([diagonal for _, diagonal, _ in found])[:, None, None, :]
        return {"leading": np.stack([matrix for matrix, _, _ in found]), "others": np.maximum(others, 0.0)}

    kept = cached_arrays(identity, make)
    shape = types.weights.shape
    return [
        Group(alike=np.ones(len(kept[name])), kernel=kept[name].reshape(*kept[name].shape[:-1], *shape))
        for name in ("leading", "others")
        if kept[name].size
    ]


@functools.lru_cache(maxsize=48)
def dense_table(inputs: Inputs, parts: tuple[Part, ...], n: int, reflected: int, types: Types) -> SectorTable:
    """The table on n points, with so many coordinates reflected."""
    groups: list[Group] = []
    for part in parts:
        kind = _curved_groups if part.targets else _even_groups
        groups += kind(inputs, part, n, reflected, types)
    return SectorTable(cutoff=1e-3, types=types, groups=tuple(groups))


def _curved_groups(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> list[Group]:
    identity = {
        "curved": identity_of(inputs),
        "points of variance one": [n, reflected, LEADING, FAINT_LEADING, FAINT_OTHERS],
        "types": [types.first, types.other, list(types.weights.shape)],
        **part.identity,
    }
    kept = cached_arrays(identity, lambda: _arrays(inputs, part, n, reflected, types))
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


def _arrays(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> dict[str, Any]:
    """Matrices by sector: those of one coordinate whole, with the coordinate; of others the leading ones."""
    X = gaussian_points(inputs, n)
    every = inputs.variances(np.arange(1.0, X.shape[1] + 1.0))
    X = X * np.sqrt(every / np.mean(X**2, axis=0))  # their variances exactly, as linear features need them
    pairs = point_pairs(X, reflected, types)
    q = pairs.head.shape[1]
    whole, slopes = (sector_kernels(part, pairs, slope) for slope in (False, True))
    odd = [bits for bits in range(1 << q) if bits.bit_count() % 2 == 1]
    even = [bits for bits in range(1 << q) if bits.bit_count() % 2 == 0]
    single = [1 << j for j in range(q)]
    targets = pairs.head.T * n**-0.5
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
    a, first = inputs.power_law().spectrum, after + 1.0
    last = min(inputs.dimension, FAINTEST ** (-1.0 / a))
    variances, counts = [], []
    while first <= last:
        end = first if first <= ALONE else min(max(first, np.floor(first * RATIO) - 1.0), np.floor(last))
        counts.append(end - first + 1.0)
        variances.append(power_sum(a, int(first), float(end)) / counts[-1])
        first = end + 1.0
    return np.array(variances), np.array(counts)
