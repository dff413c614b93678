"""Laws known by their formula.

Theta has one entry for each parameter: the logarithm of its multiple of the unit that its range names, or the
multiple itself on a linear scale. The law's formula is evaluated for many thetas at once: its parameters are
then arrays (thetas, 1).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.design import VANISHED, Bound, Design, End
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.formula_slopes import Slopes, by_differences
from sparselaw.fitting.misfit import misfit
from sparselaw.fitting.newton_side_by_side import Ends, Fits, minimise
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.without_compiler import by_arrays
from sparselaw.laws import Law, Range
from sparselaw.laws.ranges import LowestLoss, TermUnit

STARTS = 8
MOST_COMBINATIONS = 4096
LARGEST_START_ROWS = 500
TOGETHER = 32_000  # rows of all fits that are made side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaDesign(Design):
    sizes: tuple[FloatArray, ...]  # in the order of the law's own; runs of the same sizes share one entry
    cell: IntArray  # (rows,): which entry
    middle: Mapping[str, float]  # geometric means of the sizes, and "loss", "lowest": the units of the runs

    def predictions(self, theta: FloatArray) -> FloatArray:
        return np.asarray(self.log_losses(theta[None, :])[0])

    def log_losses(self, thetas: FloatArray) -> FloatArray:
        """(thetas, rows): centred; infinite where the formula has no value."""
        values = self._values(thetas)
        law = self.law(**{name: value[:, None] for name, value in values.items()})
        with np.errstate(all="ignore"):
            logs = np.log(np.asarray(law.loss(*self.sizes), dtype=np.float64)) - np.log(self.middle["loss"])
        logs = np.broadcast_to(logs, (len(thetas), self.sizes[0].size))
        return np.asarray(self._by_row(np.where(np.isnan(logs), np.inf, logs)))

    def _by_row(self, values: Any) -> Any:
        """From cells to rows along the second axis."""
        return values if self.cell.size == self.sizes[0].size else np.take(values, self.cell, axis=1)

    def slopes(self, thetas: FloatArray) -> Slopes:
        """Exact where the law knows its derivatives, by compiled loops, and its units are the common ones."""
        if by_arrays(self.rows):
            return by_differences(self.log_losses, thetas)
        values = self._values(thetas)
        law = self.law(**{name: value[:, None] for name, value in values.items()})
        with np.errstate(all="ignore"):
            known = law.log_slopes(*self.sizes) if self._plain_units() else None
        if known is None:
            return by_differences(self.log_losses, thetas)
        turn, bend = self._turns(thetas, values)
        log_loss = np.where(np.isnan(known.log_loss), np.inf, known.log_loss) - np.log(self.middle["loss"])
        first, second = self._by_row(known.first), self._by_row(known.second)
        return Slopes(self._by_row(log_loss), first, second, turn, bend)

    def _plain_units(self) -> bool:
        ranges = self.law.ranges.values()
        return all(not r.linear and isinstance(r.unit, TermUnit | LowestLoss | None) for r in ranges)

    def _turns(self, thetas: FloatArray, values: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """dphi/dtheta, and the second derivatives that are not zero: see formula_slopes."""
        place = dict(zip(self.law.parameters(), self.places, strict=True))
        turn = np.zeros((len(thetas), len(place), self.free))
        bend = np.zeros_like(turn)
        for row, (name, own) in enumerate(place.items()):
            if own is None:
                continue
            turn[:, row, own] = 1.0
            unit = self.law.ranges[name].unit
            if isinstance(unit, TermUnit):
                other = place[unit.exponent]
                assert other is not None
                turn[:, row, other] = bend[:, row, other] = values[unit.exponent] * np.log(
                    self.middle[unit.size]
                )
        return turn, bend

    def jacobian(self, theta: FloatArray) -> FloatArray:
        return np.asarray(self.slopes(theta[None, :]).jacobian()[0])

    def natural(self, theta: FloatArray) -> FloatArray:
        thetas = np.atleast_2d(theta)
        values = self._values(thetas)
        found = np.stack([values[name] for name in self.names], axis=-1)
        gone = [self.law.ranges[name].vanishes for name in self.names] & (thetas <= self.lower)
        return np.where(gone, 0.0, found).reshape(theta.shape)

    def _values(self, thetas: FloatArray) -> dict[str, FloatArray]:
        """Every parameter of the law by name, (thetas,)."""
        columns = {name: thetas[:, i] for i, name in enumerate(self.names)}
        found: dict[str, Any] = {}
        for with_unit in (False, True):  # units may hang on the parameters that have none
            for name, place in zip(self.law.parameters(), self.places, strict=True):
                held = self.law.ranges[name]
                if place is None:
                    found[name] = np.zeros(len(thetas))
                elif (held.unit is not None) == with_unit:
                    theta = columns[self.names[place]]
                    with np.errstate(over="ignore"):
                        multiple = theta if held.linear else np.exp(theta)
                        found[name] = multiple * (1.0 if held.unit is None else held.unit(found, self.middle))
        return {name: found[name] for name in self.law.parameters()}

    def theta_of(self, values: FloatArray) -> FloatArray:
        known = dict(zip(self.names, values, strict=True))
        theta = []
        for name in self.names:
            held = self.law.ranges[name]
            multiple = known[name] / (1.0 if held.unit is None else held.unit(known, self.middle))
            theta.append(multiple if held.linear else np.log(max(multiple, 1e-300)))
        return np.array(theta)

    def at_bounds(self, theta: FloatArray) -> list[Bound]:
        found = []
        for i, name in enumerate(self.names):
            held = self.law.ranges[name]
            if held.vanishes and theta[i] < np.log(VANISHED):
                found.append(Bound(name, 0.0))
            elif theta[i] in (self.lower[i], self.upper[i]):
                found.append(Bound(name, float(self.natural(theta)[i])))
        return found

    def carries(self, rows: IntArray) -> bool:
        """Two values of every size."""
        return all(np.ptp(size[self.cell[rows]]) > 0.0 for size in self.sizes)

    def take(self, rows: IntArray) -> FormulaDesign:
        sizes, cell = cells(tuple(size[self.cell[rows]] for size in self.sizes))
        return replace(
            self,
            sizes=sizes,
            cell=cell,
            log_loss=self.log_loss[rows],
            inverse_scale=self.inverse_scale[rows],
        )

    def starts(self, objective: Objective, weights: FloatArray) -> FloatArray:
        """The best of every combination of the starts that the ranges name."""
        each = [self._start_thetas(self.law.ranges[name]) for name in self.names]
        combinations = np.array(list(itertools.islice(itertools.product(*each), 100 * MOST_COMBINATIONS)))
        generator = np.random.Generator(np.random.PCG64(0))
        if len(combinations) > MOST_COMBINATIONS:
            chosen = generator.choice(len(combinations), MOST_COMBINATIONS, replace=False)
            combinations = combinations[np.sort(chosen)]
        combinations = np.clip(combinations, self.lower, self.upper)
        few, used = self, np.flatnonzero(weights)
        if used.size > LARGEST_START_ROWS:
            used = np.sort(generator.choice(used, LARGEST_START_ROWS, replace=False))
            few = self.take(used)
            weights = weights[used]
        z = (few.log_loss - few.log_losses(combinations)) * few.inverse_scale
        with np.errstate(invalid="ignore"):
            values = misfit(z, weights, objective.delta)
        return np.asarray(combinations[np.argsort(values, kind="stable")[:STARTS]])

    @staticmethod
    def _start_thetas(held: Range) -> tuple[float, ...]:
        return held.starts if held.linear else tuple(float(np.log(s)) for s in held.starts)

    def minimise(self, start: FloatArray, objective: Objective, weights: FloatArray) -> End:
        return self.minimise_all(start[None, :], objective, weights)[0]

    def minimise_all(self, starts: FloatArray, objective: Objective, weights: FloatArray) -> list[End]:
        ends = self._minimise(starts, objective, self.log_loss[None, :], weights[None, :])
        return [end.one(i) for end in ends for i in range(len(end.theta))]

    def refine(self, start: FloatArray, objective: Objective, weights: FloatArray) -> End:
        return self.minimise(start, objective, weights)

    def _minimise(
        self, starts: FloatArray, objective: Objective, losses: FloatArray, weights: FloatArray
    ) -> list[Ends]:
        """From each start, as many at a time as fit into the processor's cache."""
        problem = Fits(
            self.log_losses, self.slopes, losses, self.inverse_scale, weights, self.lower, self.upper
        )
        together = max(1, TOGETHER // self.rows)
        parts = [np.arange(i, min(i + together, len(starts))) for i in range(0, len(starts), together)]
        return [minimise(starts[p], problem.of(p), objective.delta) for p in parts]

    def minimise_many(
        self,
        starts: FloatArray,
        objective: Objective,
        *,
        losses: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        y = self.log_loss[None, :] if losses is None else losses
        w = np.ones((1, self.rows)) if weights is None else weights
        draws = max(len(y), len(w))
        thetas, values = np.empty((draws, self.free)), np.full(draws, np.inf)
        for start in starts:
            ends = self._minimise(np.tile(start, (draws, 1)), objective, y, w)
            theta, value = np.vstack([e.theta for e in ends]), np.concatenate([e.value for e in ends])
            better = (value < values) | ~np.isfinite(values)
            thetas[better], values[better] = theta[better], value[better]
        return thetas, values


def formula_design(law: type[Law], runs: Runs, *, tied: bool = False, floor: bool = True) -> FormulaDesign:
    """``tied`` has one exponent for N and D; without ``floor`` the parameter of that name is zero."""
    if runs.sweeps is not None and runs.sweeps.values.size > 1:
        raise InputError(
            "law", law.name, "takes one sweep at a time", f"choose runs with one {runs.sweeps.other}"
        )
    second = law.exponent_names[1] if tied and law.exponent_names is not None else None
    left_out = {second} | ({law.floor_name} if not floor else set())
    names = tuple(name for name in law.parameters() if name not in left_out)
    place: dict[str | None, int] = {name: i for i, name in enumerate(names)}
    if second is not None and law.exponent_names is not None:
        place[second] = place[law.exponent_names[0]]
    sizes = tuple(runs.sizes[name] for name in law.sizes)
    middle = {name: float(np.exp(np.log(s).mean())) for name, s in zip(law.sizes, sizes, strict=True)}
    distinct, cell = cells(sizes)
    middle |= {"loss": float(np.median(runs.loss)), "lowest": float(runs.loss.min())}
    ranges = [law.ranges[name] for name in names]
    return FormulaDesign(
        law=law,
        names=names,
        places=tuple(place.get(name) for name in law.parameters()),
        log_loss=np.log(runs.loss) - np.log(middle["loss"]),
        inverse_scale=1.0 / runs.scale,
        lower=np.array([held.low if held.linear else np.log(held.low) for held in ranges]),
        upper=np.array([held.high if held.linear else np.log(held.high) for held in ranges]),
        sizes=distinct,
        cell=cell,
        middle=middle,
    )


def cells(sizes: tuple[FloatArray, ...]) -> tuple[tuple[FloatArray, ...], IntArray]:
    """The distinct combinations of sizes, and which one each row has; the rows as such where all differ."""
    found, cell = np.unique(np.stack(sizes), axis=1, return_inverse=True)
    if found.shape[1] == sizes[0].size:
        return sizes, np.arange(sizes[0].size)
    return tuple(np.ascontiguousarray(size) for size in found), np.asarray(cell).ravel()
