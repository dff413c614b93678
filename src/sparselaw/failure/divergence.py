"""Is lambda_max(X X^T) above T? Decided exactly, at a cost of the nonzeros and the repeated coordinates.

The signs of whole samples drop out of X X^T, so x_1 = 1 in every sample. Two steps remove the work.

1. Coordinates seen once. Those of sample i act as one coordinate of squared amplitude
   r_i = sum of their c_j. Eliminating it from T I - X X^T leaves the same matrix without them, sample i
   weighted by T / (T - r_i). If some 1 + r_i > T then lambda_max > T at once.
2. Coordinate 1. With B the weighted Gram matrix of the repeated coordinates and v their weighted sums,
       lambda_max > T  <=>  T I - B is not positive definite, or
                            sum_i r_i / (T - r_i) + v^T (T I - B)^-1 v > T - D.
   Nothing cancels here as the threshold T / D nears 1.
   It is one elimination of T I - B, stopped at the first proof of failure.

Equality (possible where all amplitudes are equal) counts as stable: the event is strictly more.

Data with very many repeated coordinates need no matrix (``top_exceeds_one``, Lanczos's method). With the
coordinates seen once eliminated, lambda_max(X X^T) > T exactly when sum_i x_i x_i^T / (T - r_i) has an
eigenvalue above 1. A product with it costs the nonzeros. A Ritz value above 1 proves it; that none is there
is taken from a top Ritz value whose residual keeps it below.
"""

from __future__ import annotations

import numpy as np

from sparselaw.compiled import njit

EQUAL = 1e-11  # relative: closer than this is a tie
DENSE_LIMIT = 400  # more repeated coordinates than this: Lanczos, never a dense matrix
MAX_STEPS = 640


@njit()
def exceeds(data, T, first, rare):  # type: ignore[no-untyped-def]
    """Whether lambda_max(X X^T) > T for the ``Entries`` of a data set.

    ``first`` (-1) and ``rare`` (0) are work space of length D, handed back as they came.
    """
    if T < data.D:
        return True
    link = np.full(data.size, -1, np.int64)
    place = np.full(len(data.squared), -1, np.int64)
    repeated = np.int64(0)  # a plain 0 would be a type of its own, and all below compiled twice
    for k in range(len(data.squared)):
        if data.often[k] >= 2:
            place[k] = repeated
            repeated += 1
    for e in range(data.size):
        i, k = data.sample[e], data.coordinate[e]
        if place[k] < 0:
            rare[i] += data.squared[k]
        else:
            link[e] = first[i]
            first[i] = e
    answer = _decide(data, place, repeated, T, link, rare)
    for e in range(data.size):
        first[data.sample[e]] = -1
        rare[data.sample[e]] = 0.0
    return answer


@njit()
def _decide(data, place, repeated, T, link, rare):  # type: ignore[no-untyped-def]
    gap = T - data.D
    limit = gap * (1.0 + EQUAL)
    total = 0.0  # sum_i r_i / (T - r_i)
    for e in range(data.size):
        k = data.coordinate[e]
        if place[k] < 0:
            left = T - rare[data.sample[e]]
            if left < 1.0 - EQUAL * T:  # 1 + r_i is the squared length of a sample, cut to what is needed
                return True
            total += data.squared[k] / left
    if total > limit:
        return True
    if repeated > DENSE_LIMIT:
        return top_exceeds_one(data, place, repeated, T, rare, EQUAL)
    B, v = _repeated_gram(data, place, repeated, T, link, rare)
    return _eliminate(B, v, T, limit - total)


@njit()
def _repeated_gram(data, place, repeated, T, link, rare):  # type: ignore[no-untyped-def]
    """B (its lower triangle) and v of the repeated coordinates."""
    B = np.zeros((repeated, repeated))
    v = np.zeros(repeated)
    for e in range(data.size):
        k = data.coordinate[e]
        a = place[k]
        if a < 0:
            continue
        weight = T / (T - rare[data.sample[e]])
        v[a] += data.sign[e] * weight  # whole numbers where no rare coordinate is near: balanced signs give 0
        x = data.sign[e] * np.sqrt(data.squared[k]) * weight
        B[a, a] += data.squared[k] * weight
        f = link[e]
        while f >= 0:
            b = place[data.coordinate[f]]
            y = x * data.sign[f] * np.sqrt(data.squared[data.coordinate[f]])
            B[max(a, b), min(a, b)] += y
            f = link[f]
    for k in range(len(data.squared)):
        if place[k] >= 0:
            v[place[k]] *= np.sqrt(data.squared[k])
    return B, v


@njit()
def _eliminate(B, v, T, limit):  # type: ignore[no-untyped-def]
    """Whether T I - B has a negative pivot or v^T (T I - B)^-1 v > limit; B and v are overwritten.

    Rarest coordinates first: they couple to little.
    """
    n = len(v)
    reached = 0.0
    for a in range(n - 1, -1, -1):
        pivot = T - B[a, a]
        if pivot <= EQUAL * T:
            if pivot < -EQUAL * T:
                return True
            pivot = EQUAL * T  # T itself is an eigenvalue of the block: any coupling to x_1 goes beyond it
        reached += v[a] * v[a] / pivot
        if reached > limit:
            return True
        for b in range(a):
            factor = B[a, b] / pivot
            if factor != 0.0:
                v[b] += factor * v[a]
                for c in range(b + 1):
                    B[b, c] += factor * B[a, c]
    return False


@njit()
def top_exceeds_one(data, place, repeated, T, rare, equal):  # type: ignore[no-untyped-def]
    """Whether A has an eigenvalue above 1 + equal."""
    n = repeated + 1
    steps = min(n, MAX_STEPS)
    alpha, beta = np.zeros(steps), np.zeros(steps)
    # A start that leans on no coordinate in particular: a fixed quasi-random vector, led by x_1.
    z = np.empty(n)
    for a in range(n):
        z[a] = 0.5 + (0.6180339887498949 * (a + 1)) % 1.0
    z[0] = np.sqrt(n)
    z /= np.sqrt(np.dot(z, z))
    before = np.zeros(n)
    for m in range(steps):
        out = _product(z, data, place, T, rare)
        alpha[m] = np.dot(out, z)
        out -= alpha[m] * z
        if m > 0:
            out -= beta[m - 1] * before
        beta[m] = np.sqrt(np.dot(out, out))
        last = m + 1 == steps or beta[m] < 1e-14
        if last or (m + 1) % 20 == 0:
            ritz, tip = _top(alpha[: m + 1], beta[:m])
            if ritz > 1.0 + equal:
                return True
            if last or ritz + 1e3 * beta[m] * tip < 1.0:
                return False
        before = z
        z = out / beta[m]
    return False


@njit()
def _product(z, data, place, T, rare):  # type: ignore[no-untyped-def]
    along = np.full(data.D, z[0])
    for e in range(data.size):
        a = place[data.coordinate[e]]
        if a >= 0:
            along[data.sample[e]] += data.sign[e] * np.sqrt(data.squared[data.coordinate[e]]) * z[a + 1]
    out = np.zeros(len(z))
    for i in range(data.D):
        along[i] /= T - rare[i]
        out[0] += along[i]
    for e in range(data.size):
        a = place[data.coordinate[e]]
        if a >= 0:
            out[a + 1] += data.sign[e] * np.sqrt(data.squared[data.coordinate[e]]) * along[data.sample[e]]
    return out


@njit()
def _top(alpha, beta):  # type: ignore[no-untyped-def]
    """The largest eigenvalue of the tridiagonal matrix and the size of its vector's last entry."""
    n = len(alpha)
    matrix = np.zeros((n, n))
    for m in range(n):
        matrix[m, m] = alpha[m]
        if m + 1 < n:
            matrix[m, m + 1] = beta[m]
            matrix[m + 1, m] = beta[m]
    values, vectors = np.linalg.eigh(matrix)
    return values[-1], abs(vectors[-1, -1])
