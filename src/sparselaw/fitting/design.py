"""A law and a table of runs as a minimiser sees them, and the way back to a law.

Theta is the vector that is searched; the law's own parameters are its natural values. Each entry of theta is
the logarithm of a parameter's multiple of the unit that its range names (sparselaw.laws.ranges), or the
multiple itself on a linear scale. Logarithms of losses are centred on their median and sizes on their
geometric means, so the fit is the same whatever the units of N, D and the loss, and a coefficient is nearly
free of its exponent. A sum of powers is kept as its terms, any other law is asked for its formula with
parameters that are arrays (thetas, 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.derivatives import FormulaSlopes, Terms, TermSlopes, by_differences
from sparselaw.fitting.minimise import Ends, Objective, minimise
from sparselaw.fitting.starts import combined_starts, grid_starts
from sparselaw.laws import Law
from sparselaw.laws.ranges import Range, TermUnit, lowest_loss

Columns = Mapping[str, FloatArray]  # of each parameter its best value, then its draws
TOGETHER = 32_000  # rows of all fits that are made side by side: what the processor's cache holds
NEARLY_GONE = 0.05  # of its unit: a term that may as well be none
VANISHED = 1e-6  # a term that gives less than this part of every loss is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    law: type[Law]
    names: tuple[str, ...]  # of the natural values, in the order of theta
    ranges: tuple[Range, ...]  # of each of them
    place: Mapping[str, int]  # where each of the law's parameters is; none for a floor left out
    log_loss: FloatArray  # (rows,): centred
    inverse_scale: FloatArray  # (rows,)
    lower: FloatArray
    upper: FloatArray
    sizes: tuple[FloatArray, ...]  # in the order of the law's own; runs of the same sizes share one entry
    cell: IntArray  # (rows,): which entry
    middle: Mapping[str, float]  # geometric means of the sizes, and "loss", "lowest": the units of the runs
    terms: Terms | None  # of a sum of powers

    @property
    def rows(self) -> int:
        return int(self.log_loss.size)

    @property
    def free(self) -> int:
        """The number of free parameters."""
        return int(self.lower.size)

    def log_losses(self, thetas: FloatArray) -> FloatArray:
        """(thetas, rows): centred log losses that the law gives; infinite where it has no value."""
        if self.terms is not None:
            return self.terms.at(thetas).log_losses()
        with np.errstate(all="ignore"):
            logs = np.log(np.asarray(self._laws(thetas).loss(*self.sizes), dtype=np.float64))
            logs = logs - np.log(self.middle["loss"])
        logs = np.broadcast_to(logs, (len(thetas), self.sizes[0].size))
        return np.asarray(self._by_row(np.where(np.isnan(logs), np.inf, logs)))

    def slopes(self, thetas: FloatArray) -> TermSlopes | FormulaSlopes:
        """Their derivatives: exact where the law knows them and its units are the common ones."""
        if self.terms is not None:
            return self.terms.at(thetas)
        common = all(
            not held.linear and (held.unit in (None, lowest_loss) or isinstance(held.unit, TermUnit))
            for held in self.law.ranges.values()
        )
        with np.errstate(all="ignore"):
            known = self._laws(thetas).log_slopes(*self.sizes) if common else None
        if known is None:
            return by_differences(self.log_losses, thetas)
        turn, curvature = self._turns(thetas)
        log_loss = np.where(np.isnan(known.log_loss), np.inf, known.log_loss) - np.log(self.middle["loss"])
        first, second = self._by_row(known.first), self._by_row(known.second)
        return FormulaSlopes(self._by_row(log_loss), first, second, turn, curvature)

    def _by_row(self, values: Any) -> Any:
        """From cells to rows along the second axis."""
        return values if self.cell.size == self.sizes[0].size else np.take(values, self.cell, axis=1)

    def _laws(self, thetas: FloatArray) -> Law:
        """The law of every theta: its parameters are (thetas, 1)."""
        values = np.append(self._values(thetas), np.zeros((len(thetas), 1)), axis=1)
        return self.law(**{name: values[:, self.place.get(name, -1), None] for name in self.law.parameters()})

    def _turns(self, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """dphi/dtheta, and the second derivatives that are not zero."""
        turn = np.zeros((len(thetas), len(self.law.parameters()), self.free))
        curvature = np.zeros_like(turn)
        for row, name in enumerate(self.law.parameters()):
            if name not in self.place:
                continue
            turn[:, row, self.place[name]] = 1.0
            unit = self.law.ranges[name].unit
            if isinstance(unit, TermUnit):
                other = self.place[unit.exponent]
                by = np.exp(thetas[:, other]) * np.log(self.middle[unit.size])
                turn[:, row, other] = curvature[:, row, other] = by
        return turn, curvature

    def jacobian(self, theta: FloatArray) -> FloatArray:
        """(rows, p): the derivatives of the log losses."""
        return np.asarray(self.slopes(theta[None, :]).jacobian()[0])

    def natural(self, theta: FloatArray) -> FloatArray:
        """The law's own parameters, in the order of ``names``, for one theta (p,) or many (draws, p)."""
        thetas = np.atleast_2d(theta)
        gone = [held.vanishes for held in self.ranges] & (thetas <= self.lower)
        return np.where(gone, 0.0, self._values(thetas)).reshape(theta.shape)

    def columns(self, theta: FloatArray, draws: FloatArray | None = None) -> Columns:
        """The same by name: at the best theta, then at those of the draws (draws, p)."""
        thetas = theta[None, :] if draws is None else np.vstack([theta, draws])
        values = self.natural(thetas)
        return by_name(self.names, values[0], values[1:])

    def _values(self, thetas: FloatArray) -> FloatArray:
        """The same (thetas, p) before what has vanished is set to zero."""
        linear = [held.linear for held in self.ranges]
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.where(linear, thetas, np.exp(np.where(linear, 0.0, thetas)))
            return found * self._units(found.T)

    def _units(self, multiples: FloatArray) -> FloatArray:
        """(thetas, p) or (p,): units may depend on the parameters that have none."""
        one = np.ones_like(multiples[0])
        bare = {
            name: multiples[self.place[name]] if name in self.place else 0.0 * one
            for name, held in self.law.ranges.items()
            if held.unit is None
        }
        units = [held.unit for held in self.ranges]
        return np.stack([one if unit is None else one * unit(bare, self.middle) for unit in units], axis=-1)

    def theta_of(self, values: FloatArray) -> FloatArray:
        """The theta (p,) whose natural values these are."""
        multiples = values / self._units(values)
        linear = [held.linear for held in self.ranges]
        return np.where(linear, multiples, np.log(np.maximum(multiples, 1e-300)))

    def at_bounds(self, theta: FloatArray) -> dict[str, str]:
        """What is to be said of terms that have vanished, and of parameters at an end of their range."""
        largest = np.abs(self.jacobian(theta)).max(axis=0)
        gone = [held.vanishes for held in self.ranges] & (largest < VANISHED)
        ended = ~gone & ((theta == self.lower) | (theta == self.upper))
        values = np.where(gone, 0.0, self.natural(theta))
        places = (*np.flatnonzero(gone), *np.flatnonzero(ended))
        return {self.names[i]: f"{self.names[i]} is at its bound {values[i]:g}" for i in places}

    def carries(self, rows: IntArray) -> bool:
        """Can the law be fitted to these distinct rows alone? (Enough of them is taken for granted.)

        It needs two values of every size, and every sweep.
        """
        if self.terms is not None and not self.terms.linear[:, :, rows].any(axis=(0, 2)).all():
            return False
        return all(np.ptp(size[self.cell[rows]]) > 0.0 for size in self.sizes)

    def take(self, rows: IntArray) -> Design:
        """The same with these rows only; the centre stays."""
        sizes, cell = cells(tuple(size[self.cell[rows]] for size in self.sizes))
        terms = self.terms and self.terms._replace(linear=self.terms.linear[:, :, rows])
        return replace(
            self,
            sizes=sizes,
            cell=cell,
            terms=terms,
            log_loss=self.log_loss[rows],
            inverse_scale=self.inverse_scale[rows],
        )

    def starts(self, objective: Objective, weights: FloatArray) -> FloatArray:
        """(starts, p): where to begin."""
        if self.terms is None:
            return combined_starts(self, objective, weights)
        if len(self.terms.height) == 1:  # linear in theta: any start is as good
            return np.zeros((1, self.free))
        return grid_starts(self, objective.delta, weights)

    def minimise(
        self, start: FloatArray, objective: Objective, weights: FloatArray, *, staged: bool = True
    ) -> Ends:
        """The local minimum below one start; one so close by that it needs no stages is not ``staged``."""
        y, w = self.log_loss[None, :], weights[None, :]
        return self.minimise_all(start[None, :], objective, y, w, staged=staged).of(0)

    def minimise_all(
        self, starts: FloatArray, objective: Objective, losses: FloatArray, weights: FloatArray, **how: bool
    ) -> Ends:
        """The same from each start, as many at a time as fit into the processor's cache."""
        together = max(1, TOGETHER // self.rows)
        ends = []
        for first in range(0, len(starts), together):
            part = slice(first, first + together)
            y, w = (values[part] if len(values) > 1 else values for values in (losses, weights))
            ends.append(minimise(self, starts[part], objective, y, w, **how))
        return Ends(*(np.concatenate(values) for values in zip(*ends, strict=True)))

    def minimise_many(
        self,
        starts: FloatArray,
        objective: Objective,
        *,
        losses: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """(draws, p), (draws,): the best theta over ``starts`` for every row of losses or of weights.

        A term that is nearly gone slides along its logarithm for ever: it is tried without.
        """
        y = self.log_loss[None, :] if losses is None else losses
        w = np.ones((1, self.rows)) if weights is None else weights
        draws = max(len(y), len(w))
        thetas, values = np.empty((draws, self.free)), np.full(draws, np.inf)
        for start in starts:
            ends = self.minimise_all(np.tile(start, (draws, 1)), objective, y, w, drawn=True)
            better = (ends.value < values) | ~np.isfinite(values)
            thetas[better], values[better] = ends.theta[better], ends.value[better]
        y, w = (np.broadcast_to(x, (draws, self.rows)) for x in (y, w))
        for i in np.flatnonzero([held.vanishes for held in self.ranges]):
            few = np.flatnonzero((thetas[:, i] > self.lower[i]) & (thetas[:, i] < np.log(NEARLY_GONE)))
            if few.size:
                without = thetas[few]
                without[:, i] = self.lower[i]
                ends = self.minimise_all(without, objective, y[few], w[few], staged=False, drawn=True)
                better = ends.value < values[few]
                thetas[few[better]], values[few[better]] = ends.theta[better], ends.value[better]
        return thetas, values

    def residuals(self, theta: FloatArray) -> FloatArray:
        """log loss minus log prediction, not divided by the scale."""
        difference: FloatArray = self.log_loss - self.log_losses(theta[None, :])[0]
        return difference

    def law_at(self, theta: FloatArray) -> Law:
        """The law at theta; for several sweeps, the first one's."""
        values = [*self.natural(theta).tolist(), 0.0]
        return self.law(**{name: values[self.place.get(name, -1)] for name in self.law.parameters()})


def by_name(names: Iterable[str], best: Any, draws: FloatArray) -> Columns:
    """From the best values (p,) and the draws (draws, p)."""
    return dict(zip(names, np.vstack([best, draws]).T, strict=True))


def prepare(law: type[Law], runs: Runs, *, tied: bool = False, floor: bool = True) -> Design:
    """``tied`` has one exponent for N and D; without ``floor`` the loss that no size removes is zero."""
    sweeps = runs.sweeps
    many = sweeps is not None and sweeps.values.size > 1
    if sweeps is not None and many and not law.terms:
        raise InputError("law", law.name, "takes one sweep at a time", f"choose runs with one {sweeps.other}")
    first, second = law.exponent_names if tied and law.exponent_names is not None else (None, None)
    left_out = {second} | (set() if floor else {law.floor_name})
    coefficients = {term.coefficient for term in law.terms}
    names: list[str] = []
    ranges: list[Range] = []
    place: dict[str, int] = {}
    for name in law.parameters():
        if name in left_out:
            continue
        place[name] = len(names)
        own = [name]
        if sweeps is not None and many and name in coefficients:
            own = [f"{name}[{sweeps.other}={value:g}]" for value in sweeps.values]
        names += own
        ranges += [law.ranges[name]] * len(own)
    if first is not None and second is not None:
        place[second] = place[first]
    sizes = tuple(runs.sizes[name] for name in law.sizes)
    middle = {name: float(np.exp(np.log(s).mean())) for name, s in zip(law.sizes, sizes, strict=True)}
    distinct, cell = cells(sizes)
    middle |= {"loss": float(np.median(runs.loss)), "lowest": float(runs.loss.min())}
    return Design(
        law=law,
        names=tuple(names),
        ranges=tuple(ranges),
        place=place,
        log_loss=np.log(runs.loss) - np.log(middle["loss"]),
        inverse_scale=1.0 / runs.scale,
        lower=np.array([held.low if held.linear else np.log(held.low) for held in ranges]),
        upper=np.array([held.high if held.linear else np.log(held.high) for held in ranges]),
        sizes=distinct,
        cell=cell,
        middle=middle,
        terms=_terms(law, runs, place, middle, len(names)) if law.terms else None,
    )


def _terms(
    law: type[Law], runs: Runs, place: Mapping[str, int], middle: Mapping[str, float], free: int
) -> Terms:
    terms = [term for term in law.terms if term.coefficient in place]
    linear, height = np.zeros((len(terms), free, len(runs))), np.zeros(len(terms))
    sweep = 0 if runs.sweeps is None else runs.sweeps.index
    for k, term in enumerate(terms):
        linear[k, place[term.coefficient] + sweep, np.arange(len(runs))] = 1.0
        if term.size is None or term.exponent is None:
            height[k] = np.log(middle["lowest"] / middle["loss"])
        else:
            linear[k, place[term.exponent]] = -np.log(runs.sizes[term.size] / middle[term.size])
    return Terms(linear, height)


def cells(sizes: tuple[FloatArray, ...]) -> tuple[tuple[FloatArray, ...], IntArray]:
    """The distinct combinations of sizes, and which one each row has; the rows as such where all differ."""
    found, cell = np.unique(np.stack(sizes), axis=1, return_inverse=True)
    if found.shape[1] == sizes[0].size:
        return sizes, np.arange(sizes[0].size)
    return tuple(np.ascontiguousarray(size) for size in found), np.asarray(cell).ravel()
