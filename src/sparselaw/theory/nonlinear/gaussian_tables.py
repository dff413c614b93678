"""The even kernel of dense Gaussian inputs, by parity in the first coordinates and on points for the others.

Reflecting one coordinate leaves the law of the inputs as it is, so the kernel splits by parity in the first q
coordinates. In each of the 2^q sectors it is taken on n points, as an n x n matrix over n: as good as 2^q n
points. What the points leave out falls as 1/n, so that two sizes tell the limit. In a sector the leading
directions of the mean over types are a matrix for each type, the others numbers.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.kept_arrays import kept_arrays
from sparselaw.theory.nonlinear.response import DensePairs, Part
from sparselaw.theory.nonlinear.sector_tables import Group, SectorTable
from sparselaw.theory.nonlinear.unit_types import Types, unit_types

LONG = 300  # coordinates of a point; the rest is faint
LOW_DISCREPANCY = 16  # coordinates whose points are spread evenly
LEADING = 32  # directions of a sector that have a matrix
FINER = 2  # times as many points has the table that the main one is compared with
FURTHER = (2, 3, 4)  # coordinates whose |u_j| is resolved too; those of more act on each other
NODES, MAIN_NODES = (4, 4), (6, 1)  # of |u_1| and |u_j|


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


def sector_kernels(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> FloatArray:
    """(2^q, n, n, types): the kernel in each sector, over n."""
    X = gaussian_points(inputs, n)
    q = min(reflected, X.shape[1])
    head, tail = np.abs(X[:, :q]), X[:, q:]
    grid = np.stack([x.ravel() for x in np.meshgrid(*types.nodes, indexing="ij")], axis=1)
    kernels = part.reflected(DensePairs(head, tail @ tail.T, grid, (types.first, types.other)))
    found: FloatArray = walsh(kernels, q) / ((1 << q) * n)
    return found


def walsh(kernels: FloatArray, q: int) -> FloatArray:
    """Sums over 2^q reflections with the signs of each parity."""
    for i in range(q):
        pairs = kernels.reshape(1 << (q - 1 - i), 2, 1 << i, *kernels.shape[1:])
        kernels = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        kernels = kernels.reshape(1 << q, *kernels.shape[3:])
    return kernels


def gaussian_table(inputs: Inputs, part: Part, n: int, reflected: int, types: Types) -> SectorTable:
    """The table on n points, with so many coordinates reflected."""
    identity = {
        "gaussian": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "points": [n, reflected, LONG, LOW_DISCREPANCY, LEADING],
        "types": [types.first, types.other, list(types.weights.shape)],
        **part.identity,
    }
    kept = kept_arrays(identity, lambda: _reduced(sector_kernels(inputs, part, n, reflected, types), types))
    shape = types.weights.shape
    groups = [
        Group(alike=np.ones(len(kept[name])), kernel=kept[name].reshape(*kept[name].shape[:-1], *shape))
        for name in ("leading", "others")
        if kept[name].size
    ]
    return SectorTable(cutoff=1e-3, types=types, groups=tuple(groups))


def _reduced(kernels: FloatArray, types: Types) -> dict[str, FloatArray]:
    """In the eigenvectors of the mean over types: a matrix for the leading ones, the diagonal for others."""
    means = kernels @ types.weights.ravel()
    leading = min(LEADING, means.shape[1])
    matrices, diagonals = [], []
    for mean, kernel in zip(means, kernels, strict=True):
        vectors = np.linalg.eigh(mean)[1][:, ::-1]
        first, rest = vectors[:, :leading], vectors[:, leading:]
        matrices.append(np.einsum("ai,abt,bj->ijt", first, kernel, first, optimize=True))
        diagonals.append(np.einsum("ai,abt,bi->it", rest, kernel, rest, optimize=True))
    others = np.concatenate(diagonals)[:, None, None, :]
    return {"leading": np.stack(matrices), "others": np.maximum(others, 0.0)}


@functools.lru_cache(maxsize=32)
def gaussian_spectrum(inputs: Inputs, part: Part, n: int, reflected: int) -> FloatArray:
    """The eigenvalues of the even kernel on n points, all sectors together."""
    values, _ = gaussian_table(inputs, part, n, reflected, unit_types(False)).spectrum()
    return np.maximum(values, 0.0)


def resolved(inputs: Inputs, part: Part, level: Level, cutoff: float) -> tuple[float, float]:
    """T_even = sum l/(l + nu) and sum (l/(l + nu))^2 in the limit of many points; the error goes as 1/n."""
    n, reflected = level.main
    one, two = _sums(gaussian_spectrum(inputs, part, n, reflected), cutoff)
    one_fine, two_fine = _sums(gaussian_spectrum(inputs, part, FINER * n, reflected), cutoff)
    step = 1.0 / (FINER - 1.0)
    return one_fine + step * (one_fine - one), two_fine + step * (two_fine - two)


def missing_share(inputs: Inputs, part: Part, level: Level, cutoff: float) -> float:
    """Of T_even, what the main table leaves out."""
    found = _sums(gaussian_spectrum(inputs, part, *level.main), cutoff)[0]
    return resolved(inputs, part, level, cutoff)[0] / found - 1.0


def main_gaussian_table(inputs: Inputs, part: Part, level: Level) -> SectorTable:
    return _in_memory(inputs, part, *level.main, 0, MAIN_NODES)


def further_gaussian_tables(inputs: Inputs, part: Part, level: Level) -> list[SectorTable]:
    """Coarse tables with |u_1| alone, and with |u_j| for each further coordinate j."""
    others = (j for j in FURTHER if j <= inputs.dimension)
    return [_in_memory(inputs, part, *level.coarse, j, NODES) for j in (0, *others)]


@functools.lru_cache(maxsize=16)
def _in_memory(
    inputs: Inputs, part: Part, n: int, reflected: int, other: int, nodes: tuple[int, int]
) -> SectorTable:
    return gaussian_table(inputs, part, n, reflected, unit_types(True, other, nodes))


def _sums(values: FloatArray, cutoff: float) -> tuple[float, float]:
    f = values / (values + cutoff)
    return float(f.sum()), float(f @ f)
