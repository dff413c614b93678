"""The grids on which the cavity closure keeps its laws, and coordinates put together in cells."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.hankel import STEP, Hankel
from sparselaw.sums.count_nodes import cells

SINGLE = 5e-3  # activity from which on the law of a coordinate is kept on its own
OFTEN = 0.02  # mean count from which on all orders of it are kept
FINE, COARSE = 0.2, 0.6  # widths of cells in log p, of coordinates seen often and seldom
MOST = 300  # cells
BLOCK = 6.0  # one grid serves cut-offs within this range of log k


@dataclass(frozen=True, slots=True)
class Cells:
    """Coordinates (weight, p, c) in falling order of p: ``single``, then those seen often, then the rest."""

    weight: FloatArray
    p: FloatArray
    c: FloatArray
    single: int
    often: int
    top: float  # log of the largest c r that matters


def make_cells(weight: FloatArray, p: FloatArray, c: FloatArray, D: float) -> Cells:
    width = np.where(D * p > OFTEN, FINE, COARSE)
    given = weight, p, c
    weight, p, c = cells(*given, width)
    while p.size > MOST:  # tables whose p and c go separate ways
        width = 1.5 * width
        weight, p, c = cells(*given, width)
    order = np.argsort(-p, kind="stable")
    weight, p, c = weight[order], p[order], c[order]
    single = int((p > SINGLE).sum())
    often = max(single, int((D * p > OFTEN).sum()))
    counted = D * p * np.abs(weight) > 1e-6
    top = math.log(float((c * np.minimum(1.0, 30.0 / (D * p)))[counted].max()))
    return Cells(weight, p, c, single, often, top)


class LawGrid:
    """v for laws of R = 1/(k + Y), w for laws of Y, at log k in [lowest, lowest + BLOCK]."""

    def __init__(self, of: Cells, D: float, lowest: float) -> None:
        start = STEP * math.floor((lowest - math.log(D) - 5.0) / STEP)
        stop = max(of.top, lowest + BLOCK) + 4.0
        size = 2 * math.ceil(0.5 * (stop - start) / STEP)
        self.log_w0 = -STEP * math.ceil((stop + 4.0) / STEP)
        steps = STEP * np.arange(size)
        self.v, self.w = np.exp(start + steps), np.exp(self.log_w0 + steps)
        self.to_w, self.to_v = Hankel(start, self.log_w0, size), Hankel(self.log_w0, start, size)
        self.decay = np.exp(-np.minimum(self.v / of.c[:, None], 745.0))  # e^{-v/c}
        # int u e^{-u} f(cu) dlog u: what lies below the grid has f = 1
        self.mean = STEP * (self.v / of.c[:, None]) * self.decay
        self.below = np.minimum(self.v[0] / of.c * STEP / math.expm1(STEP), 1.0)
        self.faint = of.c < 20.0 * self.v[0]
        seldom, p = slice(of.often, None), of.p[of.often :]
        some = of.weight[seldom] * p
        orders = np.stack([some, some * p * (D - 1.0), 0.5 * some * (p * (D - 1.0)) ** 2])
        self.seldom = orders @ self.decay[seldom]
        self.seldom_w = some @ -np.expm1(-np.multiply.outer(of.c[seldom], self.w))
