"""Counts and activations of several D side by side: one lattice, one root search, one closure."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.coactivation import Coactivation
from sparselaw.gram.counts import Counts, cells_of, lattice_of
from sparselaw.gram.side_by_side import SideBySide


class SeveralCounts(SideBySide, Counts):
    """The counts of several D, laid out and put on a lattice side by side."""

    def __init__(self, laws: Sequence[Counts]) -> None:
        self._put(laws)
        self._shared: dict[str, tuple[FloatArray, FloatArray, FloatArray]] = {}  # by all that are taken of it

    @functools.cached_property
    def lattice(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        if not self._shared:
            self._shared["lattice"] = weight, log_g, variance = lattice_of([law._nodes for law in self.laws])
            for law, w, s in zip(self.laws, weight, variance, strict=True):
                own = (w != 0.0) | (s != 0.0)
                vars(law)["lattice"] = w[own], log_g[own], s[own]
        weight, log_g, variance = self._shared["lattice"]
        return weight[self.which], log_g, variance[self.which]

    def covariances(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        self._put_in_cells()
        found = np.empty((3, *y.shape, y.shape[1]))
        for k in np.unique(self.which):
            found[:, self.which == k] = self.laws[k].covariances(y[self.which == k])
        return found[0], found[1], found[2]

    def slack(self, x: FloatArray) -> FloatArray:
        self._put_in_cells()
        return self.each_in_turn(lambda law, x: law.slack(x), x)

    def loops(self, y: FloatArray) -> FloatArray:
        self._put_in_cells()
        return self.each_in_turn(lambda law, y: law.loops(y), y)

    def _put_in_cells(self) -> None:
        """All that are not yet, side by side."""
        new = [self.laws[k] for k in np.unique(self.which) if "cells" not in vars(self.laws[k])]
        for law, cells in zip(new, cells_of(new), strict=True):
            vars(law)["cells"] = cells


class SeveralCoactivation(SideBySide, Coactivation):
    """Several D side by side: one lattice of counts, one root search, one closure."""

    numbers = (*SideBySide.numbers, "D", "share", "crowding", "crowded", "_crowded")

    def __init__(self, laws: Sequence[Coactivation]) -> None:
        self._put(laws)
        self.of = SeveralCounts([law.of for law in laws])
        vars(self)["end"] = self._found_end()

    def take(self, i: Any) -> Self:
        new = super().take(i)
        vars(new).pop("_deepest", None)
        vars(new).update(of=self.of.take(i), end=self.end[i])
        return new

    @property
    def _lowest(self) -> Any:
        return self.gathered(lambda law: law._lowest)
