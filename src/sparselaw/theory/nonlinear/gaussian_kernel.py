"""The even kernel between Gaussian samples whose first coordinates are reflected in every way, compiled."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.progress import progress
from sparselaw.theory.nonlinear.bend_kernel import POINTS, WEIGHTS, mean_product, mean_sign, mean_size

SECONDS = 6e-7  # of a term, about


def reflected_kernel(
    head: FloatArray, rest: FloatArray, types: FloatArray, known: tuple[bool, int]
) -> FloatArray:
    """(1/4) E|u x||u y| for each pair of samples, each reflection of y, and each type: (2^q, n, n, Q).

    ``head`` (n, q) has the sizes of the first coordinates, ``rest`` (n, n) the products of all others. A type
    is |u_1|, where ``known`` has it, and the |u_j| of the other coordinate j that it names (0: none).
    """
    n, q = head.shape
    out = np.empty((1 << q, n, n, len(types)))
    terms = n * (n + 1) / 2.0 * (1 << q) * len(types) * (2.0 if known[1] else 1.0)
    with progress(f"kernel on points, about {math.ceil(SECONDS * terms)} s") as show:
        for a in range(n):
            show(a * (a + 1.0), n * (n + 1.0))
            _fill(head, rest, types, known[0], known[1] - 1, a, POINTS, WEIGHTS, out)
    return out


@njit(error_model="numpy")
def _fill(head, rest, types, first, other, a, points, weights, out):  # type: ignore[no-untyped-def]
    n, q = head.shape
    squares = np.empty(n)  # of what has no type
    for b in range(a + 1):
        squares[b] = rest[b, b]
        for i in range(q):
            if not (i == 0 and first) and i != other:
                squares[b] += head[b, i] ** 2
    for b in range(a + 1):
        v, w = squares[a], squares[b]
        for bits in range(1 << q):
            covariance = rest[a, b]
            for i in range(q):
                if not (i == 0 and first) and i != other:
                    product = head[a, i] * head[b, i]
                    covariance += -product if bits >> i & 1 else product
            flip = -1.0 if bits & 1 else 1.0
            turn = -1.0 if other >= 0 and bits >> other & 1 else 1.0
            for t in range(types.shape[0]):
                total = 0.0
                sides = 2 if other >= 0 else 1
                for side in range(sides):
                    m = k = 0.0
                    if first:
                        m, k = types[t, 0] * head[a, 0], types[t, 0] * head[b, 0] * flip
                    if other >= 0:
                        sign = -1.0 if side else 1.0
                        m += sign * types[t, 1] * head[a, other]
                        k += sign * types[t, 1] * head[b, other] * turn
                    apart = mean_size(m, v) * mean_size(k, w)
                    signs = mean_sign(m, v) * mean_sign(k, w)
                    total += mean_product(m, k, v, w, covariance, apart, signs, points, weights)
                value = 0.25 * total / sides
                out[bits, a, b, t] = value
                out[bits, b, a, t] = value
