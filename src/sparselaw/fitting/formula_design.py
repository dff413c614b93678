"""Laws known by their formula.

Theta has one entry for each parameter: the logarithm of its multiple of the unit that its range names, or the
multiple itself on a linear scale. The law's formula is evaluated for many thetas at once: its parameters are
then arrays (thetas, 1).

A law that knows its derivatives gives J and V with respect to the logarithms phi of its own parameters. Theta
differs from phi by units (sparselaw.laws.ranges), phi_A = theta_A + log unit + alpha log(mean size), so with
T = dphi/dtheta and the only curved part d^2 phi_A / dtheta_alpha^2 = alpha log(mean size):

    grad_theta = T^T grad_phi,    hess_theta = T^T hess_phi T + diag(sum_A grad_phi_A d^2 phi_A/dtheta^2).

Other laws are looked at around theta. Central differences of step 1e-5 leave errors of about 1e-10 in J and
1e-5 in V: enough for a Newton step, whose goal is a zero of the gradient.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.design import VANISHED, Bound, Design
from sparselaw.fitting.minimise import Objective, misfit, rho
from sparselaw.laws import Law, Range
from sparselaw.laws.ranges import LowestLoss, TermUnit

STARTS = 8
MOST_COMBINATIONS = 4096
LARGEST_START_ROWS = 500
STEP = 1e-5  # of differences


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaDesign(Design):
    sizes: tuple[FloatArray, ...]  # in the order of the law's own; runs of the same sizes share one entry
    cell: IntArray  # (rows,): which entry
    middle: Mapping[str, float]  # geometric means of the sizes, and "loss", "lowest": the units of the runs

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

    def slopes(self, thetas: FloatArray) -> FormulaSlopes:
        """Exact where the law knows its derivatives and its units are the common ones."""
        values = self._values(thetas)
        law = self.law(**{name: value[:, None] for name, value in values.items()})
        with np.errstate(all="ignore"):
            known = law.log_slopes(*self.sizes) if self._common_units() else None
        if known is None:
            return by_differences(self.log_losses, thetas)
        turn, curvature = self._turns(thetas, values)
        log_loss = np.where(np.isnan(known.log_loss), np.inf, known.log_loss) - np.log(self.middle["loss"])
        first, second = self._by_row(known.first), self._by_row(known.second)
        return FormulaSlopes(self._by_row(log_loss), first, second, turn, curvature)

    def _common_units(self) -> bool:
        ranges = self.law.ranges.values()
        return all(not r.linear and isinstance(r.unit, TermUnit | LowestLoss | None) for r in ranges)

    def _turns(self, thetas: FloatArray, values: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """dphi/dtheta, and the second derivatives that are not zero."""
        place = dict(zip(self.law.parameters(), self.places, strict=True))
        turn = np.zeros((len(thetas), len(place), self.free))
        curvature = np.zeros_like(turn)
        for row, (name, own) in enumerate(place.items()):
            if own is None:
                continue
            turn[:, row, own] = 1.0
            unit = self.law.ranges[name].unit
            if isinstance(unit, TermUnit):
                other = place[unit.exponent]
                assert other is not None
                turn[:, row, other] = curvature[:, row, other] = values[unit.exponent] * np.log(
                    self.middle[unit.size]
                )
        return turn, curvature

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
        for with_unit in (False, True):  # units may depend on the parameters that have none
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


class FormulaSlopes(NamedTuple):
    """Of every theta and row; with ``turn`` and ``curvature`` J and V are those of phi."""

    log_loss: FloatArray  # (thetas, rows)
    first: FloatArray  # (thetas, rows, q): J
    second: FloatArray  # (thetas, rows, q, q): V, its lower triangle
    turn: FloatArray | None = None  # (thetas, q, p): T
    curvature: FloatArray | None = None  # (thetas, q, p): d^2 phi_a / dtheta_b^2

    def jacobian(self) -> FloatArray:
        """(thetas, rows, p): J with respect to theta."""
        return self.first if self.turn is None else np.asarray(self.first @ self.turn)

    def derivatives(
        self, y: FloatArray, inverse_scale: FloatArray, weights: FloatArray, delta: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 (a scale for each parameter) of every fit."""
        f, gradient, hessian, square = sums_over_rows(
            self.log_loss, self.first, self.second, y, inverse_scale, weights, delta
        )
        if self.turn is None:
            return f, gradient, hessian, np.diagonal(square, axis1=1, axis2=2).copy()
        T, turned = self.turn, np.swapaxes(self.turn, 1, 2)
        whole = turned @ hessian @ T
        if self.curvature is not None:
            places = np.arange(T.shape[2])
            whole[:, places, places] += np.einsum("ta,tap->tp", gradient, self.curvature)
        size = np.diagonal(turned @ square @ T, axis1=1, axis2=2).copy()
        return f, (turned @ gradient[:, :, None])[:, :, 0], np.ascontiguousarray(whole), size


def sums_over_rows(
    eta: FloatArray, first: FloatArray, second: FloatArray, y: FloatArray, inverse_scale: FloatArray,
    weights: FloatArray, delta: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """f, grad f and hess f by what J and V belong to, and sum w J J^T / s^2; y and w may have one row."""
    fits, _, q = first.shape
    found = rho((y - eta) * inverse_scale, weights, delta)
    pull = (found.first * inverse_scale)[:, None, :]
    gradient = -(pull @ first)[:, 0]
    if not np.isfinite(gradient).all():  # perhaps at a row without weight, which has no say
        seen = np.broadcast_to(weights != 0.0, eta.shape)[:, :, None]
        first, second = np.where(seen, first, 0.0), np.where(seen[..., None], second, 0.0)
        gradient = -(pull @ first)[:, 0]
    bent = (pull @ second.reshape(fits, -1, q * q)).reshape(fits, q, q)
    turned = np.swapaxes(first, 1, 2)
    hessian = turned @ (first * (found.second * inverse_scale**2)[:, :, None]) - bent
    lower = np.tril(hessian)
    hessian = lower + np.swapaxes(np.tril(hessian, -1), 1, 2)
    square = turned @ (first * np.broadcast_to(weights * inverse_scale**2, eta.shape)[:, :, None])
    return found.value, gradient, hessian, square


def by_differences(log_losses: Callable[[FloatArray], FloatArray], thetas: FloatArray) -> FormulaSlopes:
    """From the formula alone."""
    fits, p = thetas.shape
    h = STEP * np.maximum(1.0, np.abs(thetas))
    first, second = np.tril_indices(p, -1)
    places = np.eye(p)
    moves = np.vstack([np.zeros((1, p)), places, -places, places[first] + places[second]])
    found = log_losses((thetas[:, None, :] + moves * h[:, None, :]).reshape(-1, p))
    found = found.reshape(fits, len(moves), -1)
    here, up, down, mixed = np.split(found, [1, p + 1, 2 * p + 1], axis=1)
    with np.errstate(invalid="ignore"):
        jacobian = (up - down) / (2.0 * h[:, :, None])
        curved = np.empty((fits, p, p, here.shape[2]))
        every = np.arange(p)
        curved[:, every, every] = (up - 2.0 * here + down) / h[:, :, None] ** 2
        cross = (mixed - up[:, first] - up[:, second] + here) / (h[:, first] * h[:, second])[:, :, None]
        curved[:, first, second] = curved[:, second, first] = cross
    return FormulaSlopes(
        here[:, 0],
        np.ascontiguousarray(jacobian.swapaxes(1, 2)),
        np.ascontiguousarray(curved.transpose(0, 3, 1, 2)),
    )
