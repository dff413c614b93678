"""The kernel of any activation between Gaussian samples, their first coordinates reflected in every way."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.theory.nonlinear.hermite_orders import Function, coefficients
from sparselaw.theory.nonlinear.response import DensePairs


def reflected_mehler(f: Function, parity: int, pairs: DensePairs, slope: bool = False) -> FloatArray:
    """As ``reflected_kernel``, E f(u x) f(u y) for f of one parity: (2^q, n, n, Q).

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
    spread = np.broadcast_to(deviations[:, None], means.shape)
    found, _ = coefficients(f, means.ravel(), spread.ravel(), parity)
    if slope:  # f' has c'_k(m, s) = sqrt(k + 1) c_(k+1)(m, s)/s, and the other parity
        found = (
            found[:, 1:] * np.sqrt(np.arange(1.0, found.shape[1])) / np.maximum(spread.reshape(-1, 1), 1e-9)
        )
        parity = 1 - parity
    out = np.empty((1 << q, n, n, len(types)))
    c = np.ascontiguousarray(found.reshape(2, n, len(types), -1))
    _fill(head, rest, c, deviations, first, other, parity, out)
    return out


@njit(error_model="numpy")
def _fill(head, rest, c, deviations, first, other, parity, out):  # type: ignore[no-untyped-def]
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
