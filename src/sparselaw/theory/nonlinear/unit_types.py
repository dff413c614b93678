"""Random units u differ in how much they look at the commonest coordinates: their types.

A unit's type is |u_1|, or |u_1| and one other |u_j|, each half-normal; Gauss nodes stand for their law.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray

NODES = (6, 4)  # for |u_1| and for |u_j|
FAR = 9.0  # beyond it a half-normal variable has no weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Types:
    """A grid of types. An axis that is not resolved has one node, of weight one."""

    first: bool  # whether |u_1| is told apart
    other: int  # the coordinate j whose |u_j| is too; 0 if there is none
    nodes: tuple[FloatArray, FloatArray]
    weights: FloatArray  # (n_1, n_j), they add up to one


@functools.cache
def unit_types(first: bool = True, other: int = 0, nodes: tuple[int, int] = NODES) -> Types:
    one = (np.zeros(1), np.ones(1))
    (x, v), (y, w) = half_normal(nodes[0]) if first else one, half_normal(nodes[1]) if other else one
    return Types(first=first, other=other, nodes=(x, y), weights=np.outer(v, w))


@functools.cache
def half_normal(n: int) -> tuple[FloatArray, FloatArray]:
    """n Gauss nodes and weights for |u|, u standard normal, by Lanczos on a fine rule.

    >>> x, w = half_normal(3)
    >>> [round(float(w @ x**k), 6) for k in (0, 2, 4)]
    [1.0, 1.0, 3.0]
    """
    x, fine = np.polynomial.legendre.leggauss(300)
    x = 0.5 * FAR * (x + 1.0)
    fine = fine * np.exp(-0.5 * x * x)
    basis = [np.sqrt(fine / fine.sum())]
    matrix = np.zeros((n, n))
    for i in range(n):
        image = x * basis[-1]
        matrix[i, i] = basis[-1] @ image
        for _ in range(2):
            for vector in basis:
                image = image - vector * (vector @ image)
        size = float(np.linalg.norm(image))
        if i + 1 < n:
            matrix[i, i + 1] = matrix[i + 1, i] = size
        basis.append(image / size)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, vectors[0] ** 2
