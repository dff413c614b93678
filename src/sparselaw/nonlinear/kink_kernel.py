"""E|X||Y| and E sign(X) sign(Y) of Gaussian variables, compiled.

``alternating_sums`` adds them up over the signs of shared coordinates, for sparse inputs;
``reflected_kernel`` has E|X||Y| between Gaussian samples whose first coordinates are reflected in every way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.progress import progress

FEW, MANY = 8, 12  # points of the integral, for a smaller and for a large correlation
SMALL = 0.85
SECONDS, REFLECTED_SECONDS = 3e-7, 6e-7  # of a term, about
PIECE = 1e6  # terms between two looks at the progress
_RULES = [np.polynomial.legendre.leggauss(n) for n in (FEW, MANY)]
POINTS = np.concatenate([0.5 * (x + 1.0) for x, _ in _RULES])
WEIGHTS = np.concatenate([w for _, w in _RULES])


def alternating_sums(
    start: IntArray,
    c: FloatArray,
    part: IntArray,
    typed: IntArray,
    types: FloatArray,
    first: bool,
    step: bool = False,
) -> FloatArray:
    """(1/4) 2^-m sum over signs of prod_{ODD} e E|X||Y| for each configuration and type: (E, Q).

    Configuration e has the active coordinates start[e] to start[e+1] of two samples, of squared amplitude c
    and ``part`` (ODD, SHARED, LEFT, RIGHT). ``types`` (Q, 2) has |u_1|, if ``first``, and the |u| of the
    coordinates that are ``typed``; the others are Gaussian. With ``step`` E sign(X) sign(Y) pi/8.
    """
    out = np.empty((len(start) - 1, len(types)))
    how = (c, part, typed, types, first, step, POINTS, WEIGHTS)
    for low, high in pieces(start, part, typed, len(types), SECONDS):
        _fill_sums(start[low : high + 1], *how, out[low:high])
    return out


def pieces(
    start: IntArray, part: IntArray, typed: IntArray, types: int, seconds: float
) -> Iterator[tuple[int, int]]:
    """Configurations from one number to another, of about PIECE terms together, each of ``seconds``."""
    doubled = np.concatenate([[0], np.cumsum((part <= 1).astype(int) + typed)])
    terms = 2.0 ** (doubled[start[1:]] - doubled[start[:-1]])
    work = np.concatenate([[0.0], np.cumsum(terms) * types])
    with progress(f"sums over signs, about {math.ceil(seconds * work[-1])} s") as show:
        for piece in range(math.ceil(work[-1] / PIECE)):
            show(PIECE * piece, work[-1])
            low, high = np.searchsorted(work, [PIECE * piece, PIECE * (piece + 1)])
            yield int(low), int(high)


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
def mean_product(m, n, v, w, c, apart, signs, points, weights):  # type: ignore[no-untyped-def]
    """E|X||Y|, means m and n, variances v, w, covariance c; ``apart`` is E|X| E|Y|, ``signs`` their signs'.

    By Price's theorem its second derivative in c is four times the density at (0, 0), so that
    E|X||Y| = E|X| E|Y| + c E sign(X) E sign(Y) + 4 int_0^c (c - s) density(s) ds, over the angle where the
    correlation is large.
    """
    if c == 0.0:
        return apart
    size = math.sqrt(v * w)
    cosine = min(1.0, max(-1.0, c / size))
    if m == 0.0 and n == 0.0:
        return 2.0 / math.pi * size * (math.sqrt(1.0 - cosine * cosine) + cosine * math.asin(cosine))
    squares, product = (m * m * w + n * n * v) / (2.0 * v * w), m * n * size / (v * w)
    total = 0.0
    if abs(cosine) < SMALL:
        for i in range(FEW):
            s = cosine * points[i]
            rest = 1.0 - s * s
            total += weights[i] * (c - size * s) * math.exp((product * s - squares) / rest) / math.sqrt(rest)
        return apart + c * signs + total * cosine / math.pi
    angle = math.asin(cosine)
    for i in range(FEW, FEW + MANY):
        s = math.sin(angle * points[i])
        rest = 1.0 - s * s
        if rest > 0.0:
            total += weights[i] * (c - size * s) * math.exp((product * s - squares) / rest)
    return apart + c * signs + total * angle / math.pi


@njit(error_model="numpy")
def mean_step(m, n, v, w, c, signs, points, weights):  # type: ignore[no-untyped-def]
    """E sign(X) sign(Y): its first derivative in c is four times the density at (0, 0)."""
    if c == 0.0:
        return signs
    size = math.sqrt(v * w)
    angle = math.asin(min(1.0, max(-1.0, c / size)))
    if m == 0.0 and n == 0.0:
        return 2.0 / math.pi * angle
    squares, product = (m * m * w + n * n * v) / (2.0 * v * w), m * n * size / (v * w)
    total = 0.0
    for i in range(FEW, FEW + MANY):
        s = math.sin(angle * points[i])
        rest = 1.0 - s * s
        if rest > 0.0:
            total += weights[i] * math.exp((product * s - squares) / rest)
    return signs + total * angle / math.pi


@njit(error_model="numpy")
def signed_covariance(bits, c, part, open_, opens, covariance, sign):  # type: ignore[no-untyped-def]
    """With the signs that ``bits`` gives to the open coordinates of y: the covariance, and prod_{ODD} e."""
    for k in range(opens):
        if bits >> k & 1:
            covariance -= c[open_[k]]
            if part[open_[k]] == 0:
                sign = -sign
        else:
            covariance += c[open_[k]]
    return covariance, sign


@njit(error_model="numpy")
def _fill_sums(start, c, part, typed, types, first_known, step, points, weights, out):  # type: ignore[no-untyped-def]
    known, open_ = np.empty(64, np.int64), np.empty(64, np.int64)
    for e in range(start.size - 1):
        knowns = opens = both = 0  # coordinates with |u| known; shared ones without; shared ones with
        base = 0.0 if first_known else 1.0
        v = w = base
        for i in range(start[e], start[e + 1]):
            if typed[i] > 0:
                known[knowns] = i
                knowns += 1
                if part[i] <= 1:
                    both += 1
                continue
            if part[i] != 3:
                v += c[i]
            if part[i] != 2:
                w += c[i]
            if part[i] <= 1:
                open_[opens] = i
                opens += 1
        for q in range(types.shape[0]):
            total = 0.0
            for sides in range(1 << knowns):
                for flips in range(1 << both):
                    m = n = types[q, 0] if first_known else 0.0
                    outer = 1.0
                    seen = 0
                    for k in range(knowns):
                        i = known[k]
                        shift = types[q, 1] * math.sqrt(c[i])
                        if sides >> k & 1:
                            shift = -shift
                        flip = 1.0
                        if part[i] <= 1:
                            if flips >> seen & 1:
                                flip = -1.0
                            seen += 1
                            if part[i] == 0:
                                outer *= flip
                        if part[i] != 3:
                            m += shift
                        if part[i] != 2:
                            n += shift * flip
                    apart = mean_size(m, v) * mean_size(n, w)
                    signs = mean_sign(m, v) * mean_sign(n, w)
                    for bits in range(1 << opens):
                        covariance, sign = signed_covariance(bits, c, part, open_, opens, base, outer)
                        if step:
                            value = mean_step(m, n, v, w, covariance, signs, points, weights)
                        else:
                            value = mean_product(m, n, v, w, covariance, apart, signs, points, weights)
                        total += sign * value
            out[e, q] = (math.pi / 8.0 if step else 0.25) * total / (1 << (knowns + both + opens))


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
    with progress(f"kernel on points, about {math.ceil(REFLECTED_SECONDS * terms)} s") as show:
        for a in range(n):
            show(a * (a + 1.0), n * (n + 1.0))
            _fill_reflected(head, rest, types, known[0], known[1] - 1, a, POINTS, WEIGHTS, out)
    return out


@njit(error_model="numpy")
def _fill_reflected(head, rest, types, first, other, a, points, weights, out):  # type: ignore[no-untyped-def]
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
