"""Why few features lose more: of N units, not just half look at coordinate 1 with either sign.

A unit with u_1 > 0 is on, mostly, where x_1 > 0: those samples have the units of that sign to themselves.
With N/2 + d of them on one side and N/2 - d on the other the loss is larger on average. In numbers: units of
type t, of share w_t, have signs of u_1 that sum to N e_t, of variance w_t/N. Given the sign their kernel is
K_t + A_t or K_t - A_t, where A_t joins functions of either parity: each coordinate with the even functions of
its sector. To second order in e, with a_t = N/tau_t and tau_t (1 + h_t), tau_t (1 - h_t) for either sign,

    M = sum_t a_t g_t A_t,    g = e - w h,    tau_t h_t = -tr(A_t r M r),
    d r = r M r M r - r (sum_t c_t K_t) r,
    c_t = a_t [w_t (h_t^2 - d_t) - e_t h_t],    tau_t d_t = tr(K_t d r),

and the loss grows by sum_j s_j (d r)_jj. It is of order 1/N. Odd features do not know it: -u is as good as u.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.nonlinear.sector_tables import Group


class Straight(NamedTuple):
    """What the coordinates know of themselves, whatever their sectors."""

    squares: FloatArray  # (Q, Q): tr(K_t r K_t' r) over them
    losses: FloatArray  # (Q,): sum_j s_j (r K_t r)_jj


def sign_imbalance(
    N: float,
    weights: FloatArray,
    tau: FloatArray,
    straight: Straight,
    groups: Sequence[tuple[Group, FloatArray]],
    even_weight: float,
    missing: float,
) -> float:
    """What is added to the loss. ``groups`` come with their resolvents; types are |u_1| alone."""
    a = N / tau
    squares = straight.squares.copy()  # tr(K_t r K_t' r)
    joined = np.zeros_like(squares)  # tr(A_t r A_t' r)
    sectors = []
    for group, r in groups:
        K = even_weight * group.kernel[..., 0]
        squares += (1.0 + missing) * _products(group.alike, r, K)
        assert group.signed is not None
        mine = np.flatnonzero(group.signed.straight.any(axis=1))
        if mine.size:
            own = group.signed.straight[mine]
            along = np.sqrt(even_weight) * group.signed.along[mine]
            sector = _Sectors(
                group.alike[mine], own, 1.0 / (1.0 + own @ (weights * a)), r[mine], K[mine], along
            )
            joined += 2.0 * np.einsum("c,ctu->tu", sector.alike * sector.r, sector.overlaps())
            sectors.append(sector)

    answer = np.linalg.inv(np.eye(a.size) - (weights / tau)[:, None] * joined * a)  # g = answer e
    e_e = np.diag(weights) / N
    g_g, e_g = answer @ e_e @ answer.T, e_e @ answer.T
    h_h = np.diag(e_e - e_g - e_g.T + g_g) / weights**2
    e_h = np.diag(e_e - e_g) / weights
    m_m = np.outer(a, a) * g_g

    traces, loss = np.zeros(a.size), 0.0  # tr(K_t r M r M r), and the same of sum_j s_j
    for sector in sectors:
        size = sector.alike * sector.r**2 * np.einsum("ctu,tu->c", sector.overlaps(), m_m)
        loss += float(size @ (4.0 * sector.own @ weights))
        image = sector.even @ sector.along
        traces += size @ sector.own + np.einsum(
            "c,cia,cjb,ab,cijt->t", sector.alike * sector.r, image, image, m_m, sector.K, optimize=True
        )
    before = a * (weights * h_h - e_h)
    d = np.linalg.solve(np.diag(tau) - squares * (a * weights), traces - squares @ before)
    return loss - float(straight.losses @ (before - a * weights * d))


class _Sectors(NamedTuple):
    """Sectors of one coordinate each, with the even functions beside it."""

    alike: FloatArray
    own: FloatArray  # (C, Q): the kernel of the coordinate
    r: FloatArray  # (C,)
    even: FloatArray  # (C, n, n): r of the even functions
    K: FloatArray  # (C, n, n, Q)
    along: FloatArray  # (C, n, Q)

    def overlaps(self) -> FloatArray:
        """The columns of A_t between r: (C, Q, Q)."""
        return np.asarray(np.swapaxes(self.along, 1, 2) @ (self.even @ self.along))


def _products(alike: FloatArray, r: FloatArray, K: FloatArray) -> FloatArray:
    """sum of tr(r K_t r K_t') over the matrices."""
    C, n, _, Q = K.shape
    image = (r @ K.reshape(C, n, n * Q)).reshape(C, n, n, Q)
    turned = np.swapaxes(image, 1, 2) * alike[:, None, None, None]
    return np.asarray(image.reshape(-1, Q).T @ turned.reshape(-1, Q))
