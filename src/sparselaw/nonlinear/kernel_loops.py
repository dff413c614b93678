"""E f(X) f(Y) of two Gaussian variables, compiled: for a kink, for a jump, or by Hermite coefficients.

``sign_sums`` adds them up over the signs of shared coordinates, for sparse inputs; ``reflected_kernel`` has
them between Gaussian samples whose first coordinates are reflected in every way; ``mehler_kernel`` between
samples as they are.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.nonlinear.response import SIGN_SCALE, Orders, Part, coefficients, hermite_orders
from sparselaw.nonlinear.sector_tables import Types
from sparselaw.progress import progress

COARSE_POINTS, FINE_POINTS = 8, 12  # points of the integral, for a smaller and for a large correlation
SMALL_COSINE = 0.85
SECONDS = {"kink": 3e-7, "jump": 3e-7, "smooth": 6e-8}  # of a term, about
PIECE = 1e6  # terms between two looks at the progress
LEAST_VARIANCE = 1e-6  # of the largest variance, where there is none
_RULES = [np.polynomial.legendre.leggauss(n) for n in (COARSE_POINTS, FINE_POINTS)]
POINTS = np.concatenate([0.5 * (x + 1.0) for x, _ in _RULES])
WEIGHTS = np.concatenate([w for _, w in _RULES])

SMOOTH, KINK, JUMP = range(3)
FORMS = {"smooth": SMOOTH, "kink": KINK, "jump": JUMP}
SCALES = {"smooth": 1.0, "kink": 0.25, "jump": SIGN_SCALE}


def sign_sums(
    of: Part, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: Types
) -> FloatArray:
    """2^-m sum over signs of prod_{ODD} e E f(X) f(Y) for each configuration and type: (E, Q).

    Configuration e has the active coordinates start[e] to start[e+1] of two samples, of squared amplitude c
    and ``part`` (ODD, SHARED, LEFT, RIGHT). A type has |u_1|, where it is told apart, and the |u| of the
    coordinate that is ``typed``, at most one in a configuration; the others are Gaussian.
    """
    amplitude = math.sqrt(float(c[typed > 0][0])) if typed.any() else 0.0
    sides = np.array([0.0, amplitude, -amplitude] if amplitude else [0.0])
    means = types.grid[:, :1] + types.grid[:, 1:] * sides
    out = np.empty((len(start) - 1, len(means)))
    if out.size == 0:
        return out
    values, per_unit = np.empty((0, 0, 0)), 0.0
    plain = not types.first and not amplitude  # means of zero: every other order is zero
    if of.form == "smooth":
        norms = np.diff(np.concatenate([[0.0], np.cumsum(c)])[start])  # of what both samples have together
        largest = math.sqrt(max(float(norms.max()), LEAST_VARIANCE) + (0.0 if types.first else 1.0))
        orders = hermite_orders(of.f, means.ravel(), largest, of.parity)
        values = np.ascontiguousarray(orders.values[:, :, of.parity :: 2]) if plain else orders.values
        per_unit = (values.shape[1] - 1.0) / largest
    how = (types.first, FORMS[of.form], SCALES[of.form], values, per_unit, plain, of.parity)
    doubled = np.concatenate([[0], np.cumsum((part <= 1).astype(int) + typed)])
    terms = 2.0 ** (doubled[start[1:]] - doubled[start[:-1]])
    work = np.concatenate([[0.0], np.cumsum(terms) * len(means)])
    with progress(f"sums over signs, about {math.ceil(SECONDS[of.form] * work[-1])} s") as show:
        for piece in range(math.ceil(work[-1] / PIECE)):
            show(PIECE * piece, work[-1])
            low, high = np.searchsorted(work, [PIECE * piece, PIECE * (piece + 1)])
            _fill_sums(start[low : high + 1], c, part, typed, means, *how, POINTS, WEIGHTS, out[low:high])
    return out


@njit(error_model="numpy")
def mean_size(m, v):  # type: ignore[no-untyped-def]
    """E|X|, X of mean m and variance v."""
    if v <= 0.0:
        return abs(m)
    return m * math.erf(m / math.sqrt(2.0 * v)) + math.sqrt(2.0 * v / math.pi) * math.exp(-m * m / (2.0 * v))


@njit(error_model="numpy")
def mean_sign(m, v):  # type: ignore[no-untyped-def]
    """E sign(X)."""
    if v <= 0.0:
        return np.sign(m)
    return math.erf(m / math.sqrt(2.0 * v))


@njit(error_model="numpy")
def mean_product(m, n, v, w, c, apart, signs, step, points, weights):  # type: ignore[no-untyped-def]
    """E|X||Y|, means m and n, variances v, w, covariance c; ``apart`` is E|X| E|Y|, ``signs`` their signs'.

    By Price's theorem its second derivative in c is four times the density at (0, 0), so that
    E|X||Y| = E|X| E|Y| + c E sign(X) E sign(Y) + 4 int_0^c (c - s) density(s) ds, over the angle where the
    correlation is large. With ``step`` E sign(X) sign(Y), whose first derivative is that density.
    """
    if c == 0.0:
        return signs if step else apart
    size = math.sqrt(v * w)
    cosine = min(1.0, max(-1.0, c / size))
    if m == 0.0 and n == 0.0:
        angle = math.asin(cosine)
        if step:
            return 2.0 / math.pi * angle
        return 2.0 / math.pi * size * (math.sqrt(1.0 - cosine * cosine) + cosine * angle)
    squares, product = (m * m * w + n * n * v) / (2.0 * v * w), m * n * size / (v * w)
    total = 0.0
    if abs(cosine) < SMALL_COSINE and not step:
        for i in range(COARSE_POINTS):
            s = cosine * points[i]
            rest = 1.0 - s * s
            total += weights[i] * (c - size * s) * math.exp((product * s - squares) / rest) / math.sqrt(rest)
        return apart + c * signs + total * cosine / math.pi
    angle = math.asin(cosine)
    for i in range(COARSE_POINTS, COARSE_POINTS + FINE_POINTS):
        s = math.sin(angle * points[i])
        rest = 1.0 - s * s
        if rest > 0.0:
            distance = 1.0 if step else c - size * s
            total += weights[i] * distance * math.exp((product * s - squares) / rest)
    return (signs if step else apart + c * signs) + total * angle / math.pi


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
def _series(coefficients, r):  # type: ignore[no-untyped-def]
    """sum_k coefficients_k r^k."""
    value = 0.0
    for k in range(coefficients.size - 1, -1, -1):
        value = value * r + coefficients[k]
    return value


@njit(error_model="numpy")
def _fill_sums(  # type: ignore[no-untyped-def]
    start, c, part, typed, means, first, form, scale, values, per_unit, plain, parity, points, weights, out
):
    a, b = np.empty(values.shape[2]), np.empty(values.shape[2])
    open_ = np.empty(64, np.int64)  # shared coordinates without a type
    apart = signs = 0.0
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
        per_size = 1.0 / size if size > 0.0 else 0.0
        both = known >= 0 and part[known] <= 1
        for q in range(means.shape[0]):
            total = 0.0
            for side in range(2 if known >= 0 else 1):
                for flip in range(2 if both else 1):
                    outer = -1.0 if both and flip == 1 and part[known] == 0 else 1.0
                    x = 0 if known < 0 or part[known] == 3 else 1 + side
                    y = 0 if known < 0 or part[known] == 2 else 1 + (side ^ flip)
                    m, n = means[q, x], means[q, y]
                    if form == SMOOTH:
                        _cubic(values[q * means.shape[1] + x], math.sqrt(v) * per_unit, a)
                        _cubic(values[q * means.shape[1] + y], math.sqrt(w) * per_unit, b)
                        a *= b
                    else:
                        apart = mean_size(m, v) * mean_size(n, w)
                        signs = mean_sign(m, v) * mean_sign(n, w)
                    for bits in range(1 << opens):  # the signs of the open coordinates of the second sample
                        covariance, sign = base, outer
                        for k in range(opens):
                            if bits >> k & 1:
                                covariance -= c[open_[k]]
                                if part[open_[k]] == 0:
                                    sign = -sign
                            else:
                                covariance += c[open_[k]]
                        if form != SMOOTH:
                            value = mean_product(
                                m, n, v, w, covariance, apart, signs, form == JUMP, points, weights
                            )
                        else:
                            r = covariance * per_size
                            value = _series(a, r * r if plain else r)
                            if plain and parity == 1:
                                value *= r
                        total += sign * value
            doubled = opens + (1 if known >= 0 else 0) + (1 if both else 0)
            out[e, q] = scale * total / (1 << doubled)


def reflected_kernel(
    of: Part, head: FloatArray, rest: FloatArray, types: Types, slope: bool = False
) -> FloatArray:
    """E f(u x) f(u y) for each pair of samples, each reflection of y, and each type: (2^q, n, n, Q).

    ``head`` (n, q) has the sizes of the first coordinates, ``rest`` (n, n) the products of all others. With
    ``slope`` it is E f'(u x) f'(u y), of smooth parts alone; there is none of a jump.

    A unit of known |u_1| and |u_j| has the mean |u_1| x_1 + |u_j| x_j or |u_1| x_1 - |u_j| x_j, up to a sign,
    which f of one parity takes to its Hermite coefficients: c_k(-m) = (-1)^(k + parity) c_k(m).
    """
    assert of.form == "smooth" or (of.form == "kink" and not slope)
    (n, q), grid, other, parity = head.shape, types.grid, types.other - 1, of.parity
    one = np.outer(head[:, 0], grid[:, 0]) if types.first else np.zeros((n, len(grid)))
    two = np.outer(head[:, other], grid[:, 1]) if other >= 0 else np.zeros_like(one)
    means = np.stack([one + two, one - two])
    free = np.array([i for i in range(q) if not (i == 0 and types.first) and i != other], dtype=np.int64)
    variances = np.diag(rest) + np.sum(head[:, free] ** 2, axis=1)
    c = np.empty((2, n, len(grid), 0))
    if of.form == "smooth":
        deviations = np.broadcast_to(np.sqrt(variances)[:, None], means.shape).ravel()
        found, _ = coefficients(of.f, means.ravel(), deviations, parity)
        if slope:  # f' has c'_k(m, s) = sqrt(k + 1) c_(k+1)(m, s)/s, and the other parity
            orders = np.sqrt(np.arange(1.0, found.shape[1]))
            found, parity = found[:, 1:] * orders / np.maximum(deviations, 1e-9)[:, None], 1 - parity
        c = np.ascontiguousarray(found.reshape(2, n, len(grid), -1))
    out = np.empty((1 << q, n, n, len(grid)))
    how = (types.first, other, FORMS[of.form], SCALES[of.form], parity, POINTS, WEIGHTS)
    terms = n * (n + 1) / 2.0 * out.size / n**2 * (2.0 if types.other else 1.0)
    with progress(f"kernel on points, about {math.ceil(2.0 * SECONDS[of.form] * terms)} s") as show:
        for a in range(n):
            show(a * (a + 1.0), n * (n + 1.0))
            _fill_reflected(head[:, free], free, rest, variances, means, c, *how, a, out)
    return out


@njit(error_model="numpy")
def _fill_reflected(  # type: ignore[no-untyped-def]
    head, free, rest, variances, means, c, first, other, form, scale, parity, points, weights, a, out
):
    product = np.empty(c.shape[3])
    for b in range(a + 1):
        v, w = variances[a], variances[b]
        size = math.sqrt(v * w)
        for bits in range(out.shape[0]):
            covariance = rest[a, b]
            for i in range(free.size):
                both = head[a, i] * head[b, i]
                covariance += -both if bits >> free[i] & 1 else both
            r = min(1.0, max(-1.0, covariance / size)) if size > 0.0 else 0.0
            flip = first and bits & 1 == 1  # the mean of b has the other sign in front of |u_1|
            turn = other >= 0 and bits >> other & 1 == 1
            for t in range(out.shape[3]):
                total = 0.0
                for side in range(2 if other >= 0 else 1):
                    at = side ^ (1 if flip != turn and other >= 0 else 0)
                    if form == SMOOTH:
                        for k in range(product.size):
                            product[k] = c[side, a, t, k] * c[at, b, t, k]
                        value = _series(product, -r if flip else r)
                        total += -value if flip and parity == 1 else value
                    else:
                        m, k = means[side, a, t], -means[at, b, t] if flip else means[at, b, t]
                        apart = mean_size(m, v) * mean_size(k, w)
                        signs = mean_sign(m, v) * mean_sign(k, w)
                        total += mean_product(m, k, v, w, covariance, apart, signs, False, points, weights)
                value = scale * total / (2 if other >= 0 else 1)
                out[bits, a, b, t] = value
                out[bits, b, a, t] = value


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
