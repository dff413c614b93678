"""E f(X) f(Y) of two Gaussian variables by Hermite coefficients, compiled.

``mehler_sums`` adds them up over the signs of shared coordinates, for sparse inputs; ``mehler_kernel`` is the
kernel between samples; ``reflected_mehler`` has it between Gaussian samples whose first coordinates are
reflected in every way.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.nonlinear.kink_kernel import pieces, signed_covariance
from sparselaw.nonlinear.response import DensePairs
from sparselaw.nonlinear.smooth import Function, Orders, coefficients, hermite_orders

SECONDS = 6e-8  # of a term, about
LEAST = 1e-6  # of the largest variance, where there is none


def mehler_sums(
    f: Function,
    parity: int,
    start: IntArray,
    c: FloatArray,
    part: IntArray,
    typed: IntArray,
    types: FloatArray,
    first: bool,
) -> FloatArray:
    """As ``Part.sums``, for f of one parity; at most one coordinate of a configuration is typed."""
    amplitude = math.sqrt(float(c[typed > 0][0])) if typed.any() else 0.0
    sides = np.array([0.0, amplitude, -amplitude] if amplitude else [0.0])
    own = types[:, :1] if first else np.zeros((len(types), 1))
    means = own + types[:, 1:] * sides
    out = np.empty((len(start) - 1, len(types)))
    if out.size == 0:
        return out
    norms = np.diff(np.concatenate([[0.0], np.cumsum(c)])[start])  # of what both samples have together
    largest = math.sqrt(max(float(norms.max()), LEAST) + (0.0 if first else 1.0))
    orders = hermite_orders(f, means.ravel(), largest, parity)
    plain = not first and not amplitude  # means of zero: every other order is zero
    values = np.ascontiguousarray(orders.values[:, :, parity::2]) if plain else orders.values
    how = (values, values.shape[1] / largest - 1.0 / largest, parity if plain else 0, plain)
    for low, high in pieces(start, part, typed, len(types), SECONDS):
        _fill_sums(start[low : high + 1], c, part, typed, sides.size, first, *how, out[low:high])
    return out


def mehler_kernel(
    orders: Orders, parity: int, left: FloatArray, right: FloatArray, covariance: FloatArray
) -> FloatArray:
    """E f(X) f(Y) for variances left (..., n, 1), right (..., 1, m) and means of zero; f of one parity."""
    s, t = np.sqrt(left), np.sqrt(right)
    r = np.clip(covariance / np.maximum(s * t, 1e-300), -1.0, 1.0)
    blocks = r.reshape(-1, *r.shape[-2:])
    values = np.ascontiguousarray(orders.values[0][:, parity::2])
    per_unit = (values.shape[0] - 1.0) / orders.largest
    rows, columns = np.empty((s.size, values.shape[1])), np.empty((t.size, values.shape[1]))
    _cubics(values, s.ravel() * per_unit, rows)
    _cubics(values, t.ravel() * per_unit, columns)
    shape = (-1, blocks.shape[2], values.shape[1])
    turned = np.ascontiguousarray(np.swapaxes(columns.reshape(shape), 1, 2))  # the orders before the samples
    out = np.zeros_like(blocks)
    _blocks(rows.reshape(-1, blocks.shape[1], values.shape[1]), turned, blocks, parity, out)
    return np.asarray(out.reshape(r.shape))


@njit(error_model="numpy")
def _cubic(values, place, out):  # type: ignore[no-untyped-def]
    """The row of ``values`` at a real-valued place, by the cubic through its four neighbours."""
    i = min(max(int(place) - 1, 0), values.shape[0] - 4)
    x = place - i
    a = -(x - 1.0) * (x - 2.0) * (x - 3.0) / 6.0
    b = x * (x - 2.0) * (x - 3.0) / 2.0
    c = -x * (x - 1.0) * (x - 3.0) / 2.0
    d = x * (x - 1.0) * (x - 2.0) / 6.0
    for k in range(values.shape[1]):
        out[k] = a * values[i, k] + b * values[i + 1, k] + c * values[i + 2, k] + d * values[i + 3, k]


@njit(error_model="numpy")
def _cubics(values, places, out):  # type: ignore[no-untyped-def]
    for i in range(places.size):
        _cubic(values, places[i], out[i])


@njit(error_model="numpy")
def _blocks(a, b, r, parity, out):  # type: ignore[no-untyped-def]
    square = np.empty(r.shape[2])
    for block in range(r.shape[0]):
        of_b = b[block]
        for x in range(r.shape[1]):
            row, total = r[block, x], out[block, x]
            for y in range(row.size):
                square[y] = row[y] * row[y]
            for k in range(a.shape[2] - 1, -1, -1):
                coefficient, column = a[block, x, k], of_b[k]
                for y in range(row.size):
                    total[y] = total[y] * square[y] + coefficient * column[y]
            if parity == 1:
                for y in range(row.size):
                    total[y] *= row[y]


@njit(error_model="numpy")
def _fill_sums(start, c, part, typed, sides, first, values, per_unit, low, plain, out):  # type: ignore[no-untyped-def]
    orders = values.shape[2]
    a, b = np.empty(orders), np.empty(orders)
    open_ = np.empty(64, np.int64)
    base = 0.0 if first else 1.0
    for e in range(start.size - 1):
        opens, known = 0, -1
        v = w = base
        for i in range(start[e], start[e + 1]):
            if typed[i] > 0:
                known = i
                continue
            if part[i] != 3:
                v += c[i]
            if part[i] != 2:
                w += c[i]
            if part[i] <= 1:
                open_[opens] = i
                opens += 1
        size = math.sqrt(v * w)
        scale = 1.0 / size if size > 0.0 else 0.0
        both = known >= 0 and part[known] <= 1
        for q in range(out.shape[1]):
            total = 0.0
            for side in range(2 if known >= 0 else 1):
                for flip in range(2 if both else 1):
                    outer = -1.0 if both and flip == 1 and part[known] == 0 else 1.0
                    x = y = q * sides
                    if known >= 0 and part[known] != 3:
                        x += 1 + side
                    if known >= 0 and part[known] != 2:
                        y += 1 + (side ^ flip)
                    _cubic(values[x], math.sqrt(v) * per_unit, a)
                    _cubic(values[y], math.sqrt(w) * per_unit, b)
                    for k in range(orders):
                        a[k] *= b[k]
                    for bits in range(1 << opens):
                        covariance, sign = signed_covariance(bits, c, part, open_, opens, base, outer)
                        r = covariance * scale
                        step = r * r if plain else r
                        value = 0.0
                        for k in range(orders - 1, -1, -1):
                            value = value * step + a[k]
                        total += sign * (value * r if low == 1 else value)
            doubled = opens + (1 if known >= 0 else 0) + (1 if both else 0)
            out[e, q] = total / (1 << doubled)


def reflected_mehler(f: Function, parity: int, pairs: DensePairs, slope: bool = False) -> FloatArray:
    """As ``kink_kernel.reflected_kernel``, E f(u x) f(u y) for f of one parity: (2^q, n, n, Q).

    A unit of known |u_1| and |u_j| has the mean |u_1| x_1 + |u_j| x_j or |u_1| x_1 - |u_j| x_j, up to a sign,
    which f of one parity takes to its Hermite coefficients: c_k(-m) = (-1)^(k + parity) c_k(m).
    """
    head, rest, types, known = pairs
    n, q = head.shape
    first, other = known[0], known[1] - 1
    squares = np.diag(rest) + np.sum(head**2, axis=1)
    squares = squares - (head[:, 0] ** 2 if first else 0.0) - (head[:, other] ** 2 if other >= 0 else 0.0)
    one = np.outer(head[:, 0], types[:, 0]) if first else np.zeros((n, len(types)))
    two = np.outer(head[:, other], types[:, 1]) if other >= 0 else np.zeros_like(one)
    means = np.stack([one + two, one - two])
    deviations = np.sqrt(np.maximum(squares, 0.0))
    scales = np.broadcast_to(deviations[:, None], means.shape)
    found, _ = coefficients(f, means.ravel(), scales.ravel(), parity)
    if slope:  # f' has c'_k(m, s) = sqrt(k + 1) c_(k+1)(m, s)/s, and the other parity
        found = (
            found[:, 1:] * np.sqrt(np.arange(1.0, found.shape[1])) / np.maximum(scales.reshape(-1, 1), 1e-9)
        )
        parity = 1 - parity
    out = np.empty((1 << q, n, n, len(types)))
    c = np.ascontiguousarray(found.reshape(2, n, len(types), -1))
    _fill_reflected(head, rest, c, deviations, first, other, parity, out)
    return out


@njit(error_model="numpy")
def _fill_reflected(head, rest, c, deviations, first, other, parity, out):  # type: ignore[no-untyped-def]
    n, q = head.shape
    orders = c.shape[3]
    product = np.empty(orders)
    for a in range(n):
        for b in range(a + 1):
            size = deviations[a] * deviations[b]
            for bits in range(1 << q):
                covariance = rest[a, b]
                for i in range(q):
                    if not (i == 0 and first) and i != other:
                        both = head[a, i] * head[b, i]
                        covariance += -both if bits >> i & 1 else both
                r = min(1.0, max(-1.0, covariance / size)) if size > 0.0 else 0.0
                flip = first and bits & 1 == 1  # the mean of b has the other sign in front of |u_1|
                turn = other >= 0 and bits >> other & 1 == 1
                for t in range(out.shape[3]):
                    value = 0.0
                    for side in range(2 if other >= 0 else 1):
                        at = side ^ (1 if flip != turn and other >= 0 else 0)
                        sign = -1.0 if flip and parity == 1 else 1.0
                        step = -r if flip else r
                        for k in range(orders):
                            product[k] = c[side, a, t, k] * c[at, b, t, k]
                        total = 0.0
                        for k in range(orders - 1, -1, -1):
                            total = total * step + product[k]
                        value += sign * total
                    if other >= 0:
                        value *= 0.5
                    out[bits, a, b, t] = value
                    out[bits, b, a, t] = value
