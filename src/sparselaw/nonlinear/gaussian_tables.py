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
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.parity_sectors import variance_cells
from sparselaw.nonlinear.response import Part
from sparselaw.nonlinear.sector_tables import Group, SectorTable, Types
from sparselaw.nonlinear.table_cache import cached_arrays

POINT_LENGTH = 300  # coordinates of a point; the rest is faint
LOW_DISCREPANCY = 16  # coordinates whose points are evenly placed
LEADING = 32  # directions of a sector that have a matrix
FAINT_LEADING, FAINT_OTHERS = 24, 6  # and of the sectors of a faint coordinate
FAINTEST = 1e-9  # the variance of the last coordinate that has a matrix
ALONE = 12  # coordinates with a matrix of their own; others are in cells
FINER = 2  # times as many points has the table that the main one is compared with
FURTHER = (2, 3, 4)  # coordinates whose |u_j| is resolved too; those of more act on each other
MATRICES = ("own", "several", "rest", "faint", "faint others")
NODES, MAIN_NODES = (4, 4), (6, 1)  # of |u_1| and |u_j|


class Level(NamedTuple):
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

    length = int(min(inputs.dimension, POINT_LENGTH))
    even = min(LOW_DISCREPANCY, length)
    root = 2.0
    for _ in range(60):  # root^(even + 1) = root + 1
        root = (1.0 + root) ** (1.0 / (even + 1.0))
    places = (0.5 + np.arange(1.0, n + 1.0)[:, None] * root ** -np.arange(1.0, even + 1.0)) % 1.0
    drawn = np.random.default_rng(20250919).standard_normal((n, length - even))
    points = np.concatenate([ndtri(places), drawn], axis=1)
    scaled: FloatArray = points * np.sqrt(inputs.variances(np.arange(1.0, length + 1.0)))
    return scaled


def sector_kernels(
    part: Part, X: FloatArray, reflected: int, types: Types, slope: bool = False
) -> FloatArray:
    """(2^q, n, n, types): the kernel on these points in each sector, over n; with ``slope`` that of f'."""
    from sparselaw.nonlinear.kernel_loops import reflected_kernel  # numba: only where it is needed

    n, q = len(X), min(reflected, X.shape[1])
    tail = X[:, q:]
    kernels = reflected_kernel(part, np.abs(X[:, :q]), tail @ tail.T, types, slope)
    for i in range(q):  # sums over reflections with the signs of each parity
        pairs = kernels.reshape(1 << (q - 1 - i), 2, 1 << i, *kernels.shape[1:])
        kernels = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        kernels = kernels.reshape(1 << q, *kernels.shape[3:])
    return np.asarray(kernels / ((1 << q) * n))


@functools.lru_cache(maxsize=48)
def dense_table(inputs: Inputs, parts: tuple[Part, ...], n: int, reflected: int, types: Types) -> SectorTable:
    """The table on n points, with so many coordinates reflected."""
    shape = types.weights.shape
    settings = [n, reflected, POINT_LENGTH, LOW_DISCREPANCY, LEADING, FAINT_LEADING, FAINT_OTHERS]
    settings += [types.first, types.other, *shape]
    groups: list[Group] = []
    for part in parts:
        make = functools.partial(_arrays, inputs, part, n, reflected, types)
        kept = cached_arrays("points", inputs, [part.digest], [part.targets, *settings], make)
        kernels = {
            name: kept[name].reshape(*kept[name].shape[:3], *shape) for name in MATRICES if name in kept
        }
        for name in ("own", "several", "rest"):
            if name in kernels:
                target = kept["target"] if name == "own" else None
                groups.append(Group(alike=np.ones(len(kernels[name])), kernel=kernels[name], target=target))
        if not part.targets:
            continue
        variances, counts = faint_cells(inputs, reflected)
        for name in ("faint", "faint others"):
            for matrix in kernels[name] if variances.size else ():
                kernel = variances[:, None, None, None, None] * matrix
                target = np.outer(np.sqrt(variances), kept["ones"]) if name == "faint" else None
                groups.append(Group(alike=counts, kernel=kernel, target=target))
    return SectorTable(cutoff=1e-3, types=types, groups=tuple(groups))


def _arrays(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> dict[str, FloatArray]:
    """Of each sector a matrix for the leading directions, the diagonal for others.

    Sectors of one coordinate among its functions are whole, with the coordinate.
    """
    X, weights = gaussian_points(inputs, n), types.weights.ravel()
    if part.targets:  # their variances exactly, as linear features need them
        every = inputs.variances(np.arange(1.0, X.shape[1] + 1.0))
        X = X * np.sqrt(every / np.mean(X**2, axis=0))
    whole = sector_kernels(part, X, reflected, types)
    q = min(reflected, X.shape[1])
    single, odd = [1 << j for j in range(q)], [bits.bit_count() % 2 == 1 for bits in range(1 << q)]
    kept = [bits for bits in range(1 << q) if not part.targets or (odd[bits] and bits not in single)]
    several = [_leading(whole[bits], weights, LEADING) for bits in kept]
    rest = np.concatenate([diagonal for _, diagonal, _ in several])[:, None, None]
    found = {"several": np.stack([matrix for matrix, _, _ in several]), "rest": np.maximum(rest, 0.0)}
    if not part.targets:
        return found
    slopes = sector_kernels(part, X, reflected, types, slope=True)
    faint, _, ones = _leading(slopes[0], weights, FAINT_LEADING, np.full(n, n**-0.5))
    others = [_leading(slopes[bits], weights, FAINT_OTHERS)[0] for bits in range(1, 1 << q) if not odd[bits]]
    found |= {"own": whole[single], "target": np.abs(X[:, :q]).T * n**-0.5}
    return found | {"faint": faint[None], "ones": ones, "faint others": np.stack(others)}


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


def faint_cells(inputs: Inputs, after: int) -> tuple[FloatArray, FloatArray]:
    """Variances and numbers of the coordinates beyond ``after``, in cells, down to the faintest."""
    a = inputs.power_law().spectrum
    _, counts, variances = variance_cells(
        a, after + 1.0, min(inputs.dimension, FAINTEST ** (-1.0 / a)), ALONE
    )
    return variances, counts
