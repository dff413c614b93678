"""The even functions of a sparse sample, by parity: which of them the even part of a kernel can tell apart.

The odd ones are the same: either kind is known where it is known for x_1 > 0. Coordinate 1 is always active;
put x_1 = 1. The law of the other coordinates does not change when one of them changes sign, so functions that
are odd in the set S of coordinates and even in all others form a sector that the kernel maps to itself.
Its basis: the sets A = S u B of active coordinates, B disjoint from S. With P the
probability of S and P_B that of B given S

    M_S(B, B') = P sqrt(P_B P_B') 2^-m sum over signs e on S u (B n B') of prod_{i in S} e_i k_e,

m the number of those signs. A function |t + sum of coordinates| has its kink within the amplitude a_b of the
faintest coordinate b of B with a chance of that order, which gives the size of what B adds to B without b,

    P P_B min(a_b, a_k)^2 min(a_b, a_j),    a_k, a_j the smallest two amplitudes of S and coordinate 1,

and P a_k^2 a_j the size of the sector itself. Sets too small are left out and P_B is shared by the others.
Functions without a kink have less in these sectors. A step changes within a_b itself, which makes these sizes
P P_B min(a_b, a_k) and P a_k. Among the odd functions x_j is that of the sector {j},
and x_1 that of the empty one, which is the same for every B: sqrt(s_j P_B).

``coordinate_cells`` lists the coordinates 2, 3, ...: one by one at first, then in cells of many that are
taken as alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import power_sum
from sparselaw.inputs import Inputs

EXACT = 8  # coordinates that have a cell of their own
RATIO = 1.25  # of the ends of a cell

SINGLE = 0.25  # of S = {j}: |t + x_j| = |t| + sign(t) x_j
KINKED = 0.1  # of all others: a density of kinks

ODD, SHARED, LEFT, RIGHT = range(4)  # of S; of B and B'; of B alone; of B' alone

Active = tuple[int, ...]  # cells, in rising order
Entry = tuple[int, int, float, int]  # row, column, factor, configuration: they add up


@dataclass(frozen=True, slots=True)
class Cells:
    """``count`` coordinates each, of probability p and squared amplitude c; the variances add up exactly."""

    place: FloatArray  # the coordinate, a real number
    count: FloatArray
    p: FloatArray
    c: FloatArray


def coordinate_cells(inputs: Inputs, smallest: float) -> Cells:
    """Cells up to the coordinate whose variance is ``smallest``.

    A cell stands at the real-valued coordinate whose variance is the mean of the cell's.
    """
    law, a = inputs.power_activations(), inputs.power_law().spectrum
    last = min(inputs.dimension, math.ceil(smallest ** (-1.0 / a)) + 1.0)
    start, count, mean = variance_cells(a, 2.0, last, EXACT)
    place = np.where(count == 1.0, start, mean ** (-1.0 / a))
    return Cells(place, count, p=place**-law.decay, c=place**law.growth)


def variance_cells(
    a: float, first: float, last: float, alone: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """First coordinates, numbers and mean variances j^-a of cells; up to ``alone`` each has its own."""
    rows = []
    while first <= last:
        end = first if first <= alone else min(max(first, math.floor(first * RATIO) - 1.0), math.floor(last))
        count = end - first + 1.0
        rows.append((first, count, power_sum(a, int(first), end) / count))
        first = end + 1.0
    start, count_, mean = np.array(rows).reshape(-1, 3).T
    return start, count_, mean


class Block(NamedTuple):
    """A symmetric matrix of a sector, or of the differences between coordinates of a cell."""

    alike: float  # how many sectors have this matrix
    entries: list[Entry]  # of the upper half
    size: int
    target: list[float]  # the coordinate among the functions of S = {j}; of S = {}: x_1. Else zeros
    norms: list[float]  # of each set: the squared norm of S and B
    first: bool  # S = {}


class ParitySectors:
    """Sectors larger than ``least``, and in each of them the sets B that add more than ``whole``.

    A configuration is the active coordinates of two samples, with their parts. With ``most`` of them the walk
    stops, and what is found is ``full``. ``jump``: for a step, not a kink.
    """

    def __init__(
        self, cells: Cells, whole: float, least: float, most: float = math.inf, jump: bool = False
    ) -> None:
        self.p, self.count, self.c = cells.p.tolist(), cells.count.tolist(), cells.c.tolist()
        self.a = [math.sqrt(c) for c in self.c]
        self.whole, self.least, self.most, self.jump = whole, least, most, jump
        self.start: list[int] = [0]  # of each configuration, in the lists of cells
        self.cell: list[int] = []
        self.part: list[int] = []
        self.blocks: list[Block] = []
        self.full = False
        self._sector((), 1.0, 1.0)

    def _sector(self, odd: Active, chance: float, alike: float) -> None:
        """This S and all that go on from it with rarer coordinates; ``alike`` sectors are as this one."""
        self._matrices(odd, chance, alike)
        last, before = (odd[-1], self.a[odd[-1]]) if odd else (0, 1.0)
        share = KINKED if odd else SINGLE
        for k in range(last, len(self.p)):
            size = self.a[k] if self.jump else self.c[k] * before
            if share * chance * self.p[k] * size < self.least or self.full:
                break
            taken = odd.count(k)
            if taken < self.count[k]:
                ways = alike * (self.count[k] - taken) / (taken + 1)
                self._sector((*odd, k), chance * self.p[k], ways)

    def _matrices(self, odd: Active, chance: float, alike: float) -> None:
        """The matrix of S between sets B, and those of the differences between coordinates of one cell."""
        sets = self._sets(odd, chance)
        if len(self.start) + 0.5 * len(sets) ** 2 > self.most:
            self.full = True
            return
        total = sum(weight for _, weight in sets)
        entries: list[Entry] = []
        inside: dict[int, list[tuple[int, int, float, int, int]]] = {}  # by the cell that both sets have
        for i, (B, weight) in enumerate(sets):
            for j in range(i, len(sets)):
                C, other = sets[j]
                factor = chance * math.sqrt(weight * other) / total
                g = B[-1] if B and C and B[-1] == C[-1] else -1
                alone = self.count[g] - odd.count(g) if g >= 0 else 1.0
                same = self._configuration(odd, B, C)
                if alone > 1.0:  # the same of ``alone`` coordinates, or two of them
                    two = self._configuration(odd, B, C, apart=g)
                    entries += [(i, j, factor / alone, same), (i, j, factor * (1.0 - 1.0 / alone), two)]
                    inside.setdefault(g, []).append((i, j, factor / alone, same, two))
                else:
                    entries.append((i, j, factor, same))
        one = math.sqrt(chance * self.c[odd[0]]) if odd else 1.0  # the root of s_j
        target = [one * math.sqrt(weight / total) if len(odd) < 2 else 0.0 for _, weight in sets]
        norms = [sum(self.c[b] for b in (*odd, *B)) for B, _ in sets]
        self.blocks.append(Block(alike, entries, len(sets), target, norms, not odd))
        for g, rows in inside.items():
            place = {i: k for k, i in enumerate(sorted({row[0] for row in rows}))}
            within = [(place[i], place[j], f, same) for i, j, f, same, _ in rows]
            within += [(place[i], place[j], -f, two) for i, j, f, _, two in rows]
            many, zeros = alike * (self.count[g] - odd.count(g) - 1.0), [0.0] * len(place)
            self.blocks.append(Block(many, within, len(place), zeros, zeros, False))

    def _configuration(self, odd: Active, left: Active, right: Active, *, apart: int = -1) -> int:
        """Samples S u B and S u B'; coordinates of the cell ``apart`` are two different ones."""
        both = [b for b in left if b in right and b != apart]
        self.cell += (*odd, *left, *(b for b in right if b not in both))
        self.part += [ODD] * len(odd) + [SHARED if b in both else LEFT for b in left]
        self.part += [RIGHT] * (len(right) - len(both))
        self.start.append(len(self.cell))
        return len(self.start) - 2

    def _sets(self, odd: Active, chance: float) -> list[tuple[Active, float]]:
        """The sets B to keep, each with its odds; at most one coordinate is of a cell of several."""
        faint = self.a[odd[-1]] if odd else 1.0
        second = self.a[odd[-2]] if len(odd) > 1 else 1.0
        found: list[tuple[Active, float]] = [((), 1.0)]

        def extend(B: Active, odds: float) -> None:
            for k in range(B[-1] + 1 if B else 0, len(self.p)):
                a = self.a[k]
                size = min(a, faint) if self.jump else min(a, faint) ** 2 * min(a, second)
                if KINKED * chance * odds * self.p[k] * size < self.whole:
                    break
                free = self.count[k] - odd.count(k)
                if free > 0.0:
                    more = odds * self.p[k] / (1.0 - self.p[k])
                    found.append(((*B, k), more * free))
                    if self.count[k] == 1.0:
                        extend((*B, k), more)

        extend((), 1.0)
        return found
