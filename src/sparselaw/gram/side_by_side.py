"""Laws of several D side by side: a law whose numbers are arrays, asked at one x for each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import Atoms, GramLaw, Moments, Scatter


class SideBySide:
    """Laws of several D, of which the ``which``-th answers each x."""

    laws: tuple[Any, ...]
    which: NDArray[np.intp]
    numbers: ClassVar[tuple[str, ...]] = (
        *("rank", "rank_error", "noise_error", "rank_sd"),
        *("most", "unseen", "hardly_open"),
    )

    def _put(self, laws: Sequence[GramLaw]) -> None:
        vars(self).update(laws=tuple(laws), which=np.arange(len(laws)))
        for name in self.numbers:
            vars(self)[name] = np.array([getattr(law, name) for law in laws])

    def take(self, i: Any) -> Self:
        new = copy.copy(self)
        vars(new).update({name: vars(self)[name][i] for name in ("which", *self.numbers)})
        vars(new).pop("lattice", None)
        return new

    def one(self, i: Any) -> Any:
        return self.laws[self.which[i]]

    def gathered(self, ask: Callable[[Any], Any]) -> Any:
        """What each law says of itself, at its x."""
        return np.array([ask(self.laws[k]) for k in self.which])

    def inverses(self) -> tuple[Any, Any]:
        every, seen = self.gathered(lambda law: law.inverses()).T
        return every, seen

    def inverse_errors(self) -> tuple[Any, Any]:
        every, seen = self.gathered(lambda law: law.inverse_errors()).T
        return every, seen

    def each_in_turn(self, ask: Callable[[Any, FloatArray], FloatArray], x: FloatArray) -> FloatArray:
        """The rows that each law has for its x."""
        asked = np.unique(self.which) if x.size else [0]
        rows = np.concatenate([ask(self.laws[k], x[self.which == k]) for k in asked], axis=-1)
        out = np.empty_like(rows)
        out[..., np.argsort(self.which, kind="stable")] = rows
        return out


class Several(SideBySide, GramLaw):
    """Laws of any kind, each asked in its turn."""

    def __init__(self, laws: Sequence[GramLaw]) -> None:
        self._put(laws)

    @property
    def end(self) -> FloatArray:
        return np.asarray(self.gathered(lambda law: law.end))

    def at(self, x: FloatArray) -> Moments:
        return Moments(*self.each_in_turn(lambda law, x: law.at(x).rows(), x))

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        x, S, P, stretch = self.each_in_turn(lambda law, y: np.stack(law.along(y)), y)
        return x, S, P, stretch

    def atoms(self) -> tuple[Atoms, float]:
        raise TypeError("several D have no common atoms")

    def start(self, N: FloatArray) -> FloatArray:
        return self.each_in_turn(lambda law, N: law.start(N), N)

    def scatter(self, x: FloatArray) -> Scatter:
        return Scatter(*self.each_in_turn(lambda law, x: law.scatter(x).rows(), x))

    def error(self, x: FloatArray) -> FloatArray:
        return self.each_in_turn(lambda law, x: law.error(x), x)
