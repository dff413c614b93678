"""The even kernel of dense Gaussian inputs, by parity in the first coordinates and on points for the others.

Reflecting one coordinate leaves the law of the inputs as it is, so the kernel splits by parity in the first q
coordinates. In each of the 2^q sectors it is taken on n points, as an n x n matrix over n: as good as 2^q n
points. What the points leave out falls as 1/n, so that two sizes tell the limit. In a sector the leading
directions of the mean over types are a matrix for each type, the others numbers.
"""

from __future__ import annotations

import functools

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.even_tables import EvenTable, Group
from sparselaw.theory.nonlinear.gaussian_kernel import reflected_kernel
from sparselaw.theory.nonlinear.kept_arrays import kept_arrays
from sparselaw.theory.nonlinear.unit_types import Types, unit_types

REFLECTED = 6  # q
LONG = 300  # coordinates of a point; the rest is faint
LOW_DISCREPANCY = 16  # coordinates whose points are spread evenly
LEADING = 32  # directions of a sector that have a matrix
POINTS = 128  # of the main table
FINE = 256  # of the one that it is compared with
COARSE = 64  # of those for further types, which have a reflected coordinate less
FURTHER = (2, 3, 4)
NODES, MAIN_NODES = (4, 4), (6, 1)  # of |u_1| and |u_j|


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


def sector_kernels(inputs: Inputs, n: int, types: Types) -> FloatArray:
    """(2^q, n, n, types): the kernel in each sector, over n."""
    X = gaussian_points(inputs, n)
    q = min(REFLECTED - (n == COARSE), X.shape[1])
    head, tail = np.abs(X[:, :q]), X[:, q:]
    grid = np.stack([x.ravel() for x in np.meshgrid(*types.nodes, indexing="ij")], axis=1)
    kernels = reflected_kernel(head, tail @ tail.T, grid, (types.first, types.other))
    for i in range(q):  # sums over reflections with the signs of each parity
        pairs = kernels.reshape(1 << (q - 1 - i), 2, 1 << i, *kernels.shape[1:])
        kernels = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        kernels = kernels.reshape(1 << q, *kernels.shape[3:])
    found: FloatArray = kernels / ((1 << q) * n)
    return found


def gaussian_table(inputs: Inputs, n: int, types: Types) -> EvenTable:
    identity = {
        "gaussian": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "points": [n, REFLECTED, LONG, LOW_DISCREPANCY, LEADING],
        "types": [types.first, types.other, list(types.weights.shape)],
    }
    kept = kept_arrays(identity, lambda: _reduced(sector_kernels(inputs, n, types), types))
    shape = types.weights.shape
    groups = [
        Group(alike=np.ones(len(kept[name])), kernel=kept[name].reshape(*kept[name].shape[:-1], *shape))
        for name in ("leading", "others")
        if kept[name].size
    ]
    return EvenTable(cutoff=1e-3, types=types, groups=tuple(groups))


def _reduced(kernels: FloatArray, types: Types) -> dict[str, FloatArray]:
    """In the eigenvectors of the mean over types: a matrix for the leading ones, the diagonal for the rest."""
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
def gaussian_spectrum(inputs: Inputs, n: int) -> FloatArray:
    """The eigenvalues of the even kernel on n points, all sectors together."""
    values, _ = gaussian_table(inputs, n, unit_types(False)).spectrum()
    return np.maximum(values, 0.0)


def resolved(inputs: Inputs, cutoff: float) -> tuple[float, float]:
    """T_even = sum l/(l + nu) and sum (l/(l + nu))^2 in the limit of many points."""
    sums = []
    for n in (POINTS, FINE):
        f = gaussian_spectrum(inputs, n) / (gaussian_spectrum(inputs, n) + cutoff)
        sums.append((float(f.sum()), float(f @ f)))
    (one, two), (one_fine, two_fine) = sums
    step = POINTS / (FINE - POINTS)  # the error falls as 1/n
    return one_fine + step * (one_fine - one), two_fine + step * (two_fine - two)


def missing_share(inputs: Inputs, cutoff: float) -> float:
    """Of T_even, what the main table leaves out."""
    f = gaussian_spectrum(inputs, POINTS) / (gaussian_spectrum(inputs, POINTS) + cutoff)
    return resolved(inputs, cutoff)[0] / float(f.sum()) - 1.0


def main_gaussian_table(inputs: Inputs) -> EvenTable:
    return _in_memory(inputs, POINTS, 0)


def further_gaussian_tables(inputs: Inputs) -> list[EvenTable]:
    """Coarse tables with |u_1| alone, and with |u_j| for each further coordinate j."""
    return [_in_memory(inputs, COARSE, j) for j in (0, *(j for j in FURTHER if j <= inputs.dimension))]


@functools.lru_cache(maxsize=16)
def _in_memory(inputs: Inputs, n: int, other: int) -> EvenTable:
    return gaussian_table(inputs, n, unit_types(True, other, MAIN_NODES if n == POINTS else NODES))
