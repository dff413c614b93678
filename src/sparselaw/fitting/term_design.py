"""Laws that are sums of powers. Theta has the logarithm of each coefficient at the centre, and the exponents.

Centring makes a coefficient nearly free of its exponent. Runs in several sweeps have a coefficient for each
of them, and share the exponents.

The search starts from a coarse grid of exponents (variable projection). Given the exponents the law is linear
in its coefficients, and a relative residual is close to a residual in log loss. So at every grid point a
small nonnegative least-squares problem, reweighted for the robust objective, gives the best coefficients; the
points with the smallest objective that lie apart become starts. A term is the same at every grid point that
shares its exponent, so powers are taken once for each exponent.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.clean_runs import Runs, Sweeps
from sparselaw.fitting.design import VANISHED, Bound, Design
from sparselaw.fitting.minimise import Objective, rho
from sparselaw.laws import Law

EXPONENT_RANGE = (1e-3, 30.0)
LOWEST_FLOOR = 18.0  # log E may fall this far below the smallest log loss: E is then zero for any purpose
LARGEST_INTERCEPT = 400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TermDesign(Design):
    """The law is log sum_k exp(t_ki), with t_ki = theta[intercept_k + sweep_i] - theta[slope_k] x_ki."""

    x: FloatArray  # (terms, rows): centred log sizes
    intercept: IntArray  # (terms,)
    slope: IntArray  # (terms,): -1 for a term without an exponent
    sweep: IntArray  # (rows,)
    centres: FloatArray  # (terms,): what was subtracted from the log sizes
    centre: float  # what was subtracted from the log losses

    def log_losses(self, thetas: FloatArray) -> FloatArray:
        return self.slopes(thetas).log_losses()

    def slopes(self, thetas: FloatArray) -> TermSlopes:
        exponents = np.where(self.slope >= 0, thetas[:, self.slope], 0.0)
        heights = thetas[:, self.intercept[:, None] + self.sweep]
        return TermSlopes(
            terms=heights - exponents[:, :, None] * self.x,
            x=self.x,
            intercept=self.intercept,
            slope=self.slope,
            sweep=(np.arange(self.sweep.max() + 1)[:, None] == self.sweep).astype(np.float64),
            free=self.free,
        )

    def jacobian(self, theta: FloatArray) -> FloatArray:
        found, rows = np.zeros((self.rows, self.free)), np.arange(self.rows)
        for k, share in enumerate(self.shares(theta)):
            found[rows, self.intercept[k] + self.sweep] += share
            if self.slope[k] >= 0:
                found[:, self.slope[k]] -= share * self.x[k]
        return found

    def shares(self, theta: FloatArray) -> FloatArray:
        """(terms, rows): the part of the predicted loss that each term gives."""
        terms = self._terms(theta)
        share: FloatArray = np.exp(terms - np.logaddexp.reduce(terms, axis=0))
        return share

    def _terms(self, theta: FloatArray) -> FloatArray:
        slopes = np.where(self.slope >= 0, theta[self.slope], 0.0)
        terms: FloatArray = theta[self.intercept[:, None] + self.sweep[None, :]] - slopes[:, None] * self.x
        return terms

    def natural(self, theta: FloatArray) -> FloatArray:
        many = np.atleast_2d(theta)
        values = many.copy()
        for column, k in self._coefficients():
            exponent = many[:, self.slope[k]] if self.slope[k] >= 0 else 0.0
            with np.errstate(over="ignore"):
                values[:, column] = np.exp(many[:, column] + self.centre + exponent * self.centres[k])
            values[many[:, column] <= self.lower[column], column] = 0.0
        return values.reshape(theta.shape)

    def theta_of(self, values: FloatArray) -> FloatArray:
        theta = values.copy()
        for column, k in self._coefficients():
            exponent = values[self.slope[k]] if self.slope[k] >= 0 else 0.0
            theta[column] = np.log(max(values[column], 1e-300)) - self.centre - exponent * self.centres[k]
        return theta

    def _coefficients(self) -> list[tuple[int, int]]:
        """(place in theta, term) of every coefficient."""
        sweeps = int(self.sweep.max()) + 1
        return [(column, k) for k, i in enumerate(self.intercept) for column in range(i, i + sweeps)]

    def at_bounds(self, theta: FloatArray) -> list[Bound]:
        share = self.shares(theta).max(axis=1)
        gone = [Bound(self.names[i], 0.0) for k, i in enumerate(self.intercept) if share[k] < VANISHED]
        ends = [
            Bound(self.names[index], float(bound))
            for index in sorted(set(self.slope[self.slope >= 0].tolist()))
            for bound in (self.lower[index], self.upper[index])
            if theta[index] == bound
        ]
        return gone + ends

    def carries(self, rows: IntArray) -> bool:
        """Two sizes for every exponent, every sweep present."""
        if self.sweep.any() and np.unique(self.sweep[rows]).size <= self.sweep.max():
            return False
        return all(np.ptp(self.x[k, rows]) > 0.0 for k in np.flatnonzero(self.slope >= 0))

    def take(self, rows: IntArray) -> TermDesign:
        return replace(
            self,
            x=np.ascontiguousarray(self.x[:, rows]),
            sweep=self.sweep[rows],
            log_loss=self.log_loss[rows],
            inverse_scale=self.inverse_scale[rows],
        )

    def starts(self, objective: Objective, weights: FloatArray) -> FloatArray:
        if self.intercept.size == 1:  # linear in theta: any start is as good
            return np.zeros((1, self.free))
        return grid_starts(self, objective.delta, weights)


def term_design(law: type[Law], runs: Runs, *, tied: bool = False, floor: bool = True) -> TermDesign:
    """``tied`` has one exponent for N and D; without ``floor`` the term that no size removes is left out."""
    terms = [term for term in law.terms if floor or term.coefficient != law.floor_name]
    constants = {term.coefficient for term in terms if term.size is None}
    coefficients = {term.coefficient for term in terms}
    log_loss = np.log(runs.loss)
    centre = float(np.median(log_loss))
    smallest, largest = float(log_loss.min()) - centre, float(log_loss.max()) - centre
    lowest_exponent = EXPONENT_RANGE[0] if len(terms) > 1 else -EXPONENT_RANGE[1]
    sweeps = 1 if runs.sweeps is None else runs.sweeps.values.size

    names: list[str] = []
    place: dict[str, int] = {}
    box: list[tuple[float, float]] = []
    for name in law.parameters():
        if tied and law.exponent_names is not None and name == law.exponent_names[1]:
            continue
        if name in coefficients:
            place[name] = len(names)
            names += _one_for_each(name, runs.sweeps)
            ends = (smallest - LOWEST_FLOOR, largest + 1.0), (-LARGEST_INTERCEPT, LARGEST_INTERCEPT)
            box += [ends[0] if name in constants else ends[1]] * sweeps
        elif floor or name != law.floor_name:
            place[name] = len(names)
            names.append(name)
            box.append((lowest_exponent, EXPONENT_RANGE[1]))
    if tied and law.exponent_names is not None:
        place[law.exponent_names[1]] = place[law.exponent_names[0]]

    logs = {name: np.log(runs.sizes[name]) for name in law.sizes}
    centres = np.array([0.0 if term.size is None else logs[term.size].mean() for term in terms])
    rows = [
        np.zeros(len(runs)) if term.size is None else logs[term.size] - middle
        for term, middle in zip(terms, centres, strict=True)
    ]
    return TermDesign(
        law=law,
        names=tuple(names),
        places=tuple(place.get(name) for name in law.parameters()),
        log_loss=log_loss - centre,
        inverse_scale=1.0 / runs.scale,
        lower=np.array([low for low, _ in box]),
        upper=np.array([high for _, high in box]),
        x=np.ascontiguousarray(np.stack(rows)),
        intercept=np.array([place[term.coefficient] for term in terms]),
        slope=np.array([-1 if term.exponent is None else place[term.exponent] for term in terms]),
        sweep=np.zeros(len(runs), np.int64) if runs.sweeps is None else runs.sweeps.index.astype(np.int64),
        centres=centres,
        centre=centre,
    )


def _one_for_each(name: str, sweeps: Sweeps | None) -> list[str]:
    if sweeps is None or sweeps.values.size == 1:
        return [name]
    return [f"{name}[{sweeps.other}={value:g}]" for value in sweeps.values]


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSlopes:
    """Terms t_k = theta[intercept_k + sweep] - theta[slope_k] x_k at thetas (fits, p), and their derivatives.

    With p_k = exp(t_k - eta) the share of a term, J = sum_k p_k grad t_k and V = sum_k p_k grad t_k
    grad t_k^T - J J^T; grad t_k is sparse: term k has its intercept, one for each sweep, and its exponent.
    """

    terms: FloatArray  # (fits, terms, rows): t
    x: FloatArray  # (terms, rows)
    intercept: IntArray  # (terms,)
    slope: IntArray  # (terms,): -1 for a term without an exponent
    sweep: FloatArray  # (sweeps, rows): one where the row is of the sweep
    free: int  # p

    def log_losses(self) -> FloatArray:
        """(fits, rows): log sum_k exp(t_k)."""
        top = self.terms.max(axis=1)
        found: FloatArray = top + np.log(np.exp(self.terms - top[:, None]).sum(axis=1))
        return found

    def derivatives(
        self, y: FloatArray, inverse_scale: FloatArray, weights: FloatArray, delta: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 of every fit."""
        eta = self.log_losses()
        share = np.exp(self.terms - eta[:, None])
        found = rho((y - eta) * inverse_scale, weights, delta)
        pull = found.first * inverse_scale
        outer = found.second * inverse_scale**2 + pull  # J J^T enters with rho'' and, through V, with rho'
        fits, _, rows = share.shape
        sweeps = len(self.sweep)
        J = np.zeros((fits, self.free, rows))
        pulled = share * pull[:, None]
        for k, (first, slope) in enumerate(zip(self.intercept, self.slope, strict=True)):
            J[:, first : first + sweeps] += share[:, k, None] * self.sweep
            if slope >= 0:
                J[:, slope] -= share[:, k] * self.x[k]
        gradient = -(J @ pull[:, :, None])[:, :, 0]
        hessian = (J * outer[:, None]) @ J.swapaxes(1, 2)
        for k, (first, slope) in enumerate(zip(self.intercept, self.slope, strict=True)):
            own = np.arange(first, first + sweeps)
            hessian[:, own, own] -= pulled[:, k] @ self.sweep.T
            if slope >= 0:
                by_x = pulled[:, k] * self.x[k]
                cross = by_x @ self.sweep.T
                hessian[:, own, slope] += cross
                hessian[:, slope, own] += cross
                hessian[:, slope, slope] -= by_x @ self.x[k]
        square = np.broadcast_to(weights * inverse_scale**2, eta.shape)
        return found.value, gradient, hessian, ((J * J) @ square[:, :, None])[:, :, 0]


GRID = np.geomspace(0.02, 8.0, 12)
COARSE_GRID = np.geomspace(0.02, 8.0, 7)  # for three exponents and more
STARTS = 8
LARGEST_GRID_ROWS = 2000
TOGETHER = 40_000  # rows of all grid points that are looked at side by side
REWEIGHTINGS = 2
ABSENT = np.log(0.01)  # a coefficient that came out as zero starts so small, but where its slope is felt


def grid_starts(design: TermDesign, delta: float, weights: FloatArray) -> FloatArray:
    """(starts, p): the best grid points that are not neighbours of a better one."""
    if design.rows > LARGEST_GRID_ROWS:
        generator = np.random.Generator(np.random.PCG64(0))
        few = np.sort(generator.choice(design.rows, LARGEST_GRID_ROWS, replace=False))
        design, weights = design.take(few), weights[few]
    distinct = sorted(set(design.slope[design.slope >= 0].tolist()))
    grid = GRID if len(distinct) <= 2 else COARSE_GRID
    places = np.array(list(itertools.product(range(grid.size), repeat=len(distinct))))
    values, coefficients = scan(places, grid, distinct, design, delta, weights)
    chosen: list[int] = []
    for flat in np.argsort(values, kind="stable"):
        if not np.isfinite(values[flat]) or len(chosen) == STARTS:
            break
        if not chosen or np.abs(places[chosen] - places[flat]).max(axis=1).min() > 1:
            chosen.append(int(flat))
    thetas = np.zeros((len(chosen), design.lower.size))
    sweeps = int(design.sweep.max()) + 1
    for k, first in enumerate(design.intercept):
        thetas[:, first : first + sweeps] = coefficients[chosen, k, None]
    thetas[:, distinct] = grid[places[chosen]]
    return np.clip(thetas, design.lower, design.upper)


def scan(
    places: IntArray,
    grid: FloatArray,
    distinct: list[int],
    design: TermDesign,
    delta: float,
    weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The objective (points,) and the logarithms of the coefficients (points, terms) at every grid point.

    ``places`` (points, exponents) says which exponents of the grid a point has; ``distinct`` names the
    exponents by their place in theta.
    """
    powers, tops, at = [], [], []
    for x, slope in zip(design.x, design.slope, strict=True):
        logs = -(grid[:, None] if slope >= 0 else np.zeros((1, 1))) * x
        top = logs.max(axis=1)
        powers.append(np.exp(logs - top[:, None] - design.log_loss))
        at.append(places[:, distinct.index(slope)] if slope >= 0 else np.zeros(len(places), np.int64))
        tops.append(top[at[-1]])
    values, found = np.empty(len(places)), np.empty((len(places), len(powers)))
    step = max(1, TOGETHER // design.log_loss.size)
    for first in range(0, len(places), step):
        part = slice(first, first + step)
        columns = [power[own[part]] for power, own in zip(powers, at, strict=True)]
        values[part], found[part] = _projected(columns, design.inverse_scale, weights, delta)
    with np.errstate(divide="ignore"):
        return values, np.where(found > 0.0, np.log(found) - np.stack(tops, axis=1), ABSENT)


def _projected(
    columns: list[FloatArray], inv_s: FloatArray, w: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """The objective (points,) and the best coefficients (points, terms).

    Each of ``columns`` (points, rows) is a term over the loss: their sum should be one.
    """
    plain = w * inv_s**2
    best, fitted = _least_squares(columns, plain[None, :])
    for _ in range(0 if delta == np.inf else REWEIGHTINGS):
        weight = plain / np.maximum(np.abs(1.0 - fitted) * inv_s, max(delta, 1e-3))
        best, fitted = _least_squares(columns, weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(np.log(fitted)) * inv_s
        cut = np.minimum(z, delta)
        return (cut * (z - 0.5 * cut)) @ w * (1.0 if delta == np.inf else 1.0 / delta), best.T


def _least_squares(columns: list[FloatArray], weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nonnegative coefficients (terms, points) that bring the sum closest to one, and that sum."""
    weighted = [column * weight for column in columns]
    right = np.stack([column.sum(axis=1) for column in weighted])
    normal = np.empty((len(columns), *right.shape))
    for a, b in itertools.combinations_with_replacement(range(len(columns)), 2):
        normal[a, b] = normal[b, a] = np.einsum("gr,gr->g", weighted[a], columns[b])
    best = _nonnegative(normal, right)
    fitted = best[0, :, None] * columns[0]
    for c, column in zip(best[1:], columns[1:], strict=True):
        fitted += c[:, None] * column
    return best, fitted


def _nonnegative(normal: FloatArray, right: FloatArray) -> FloatArray:
    """Nonnegative least squares in a few unknowns, at each grid point (last axis): every support is tried."""
    terms, points = right.shape
    best, lowest, every = np.zeros((terms, points)), np.zeros(points), np.arange(points)
    for size in range(1, terms + 1):
        supports = np.array(list(itertools.combinations(range(terms), size))).T  # (size, supports)
        vector = right[supports]
        solution = _eliminated(normal[supports[:, None], supports[None, :]], vector.copy())
        with np.errstate(invalid="ignore"):
            value = -0.5 * np.sum(solution * vector, axis=0)
            value = np.where((solution >= 0.0).all(axis=0), value, np.inf)
        which = value.argmin(axis=0)
        value = value[which, every]
        better = np.flatnonzero(value < lowest)
        lowest[better] = value[better]
        best[:, better] = 0.0
        best[supports[:, which[better]], better] = solution[:, which[better], better]
    return best


def _eliminated(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Solves positive systems (n, n, ...) in place, side by side; no number where one is singular."""
    n = len(vector)
    every = range(n)
    matrix[every, every] *= 1.0 + 1e-12  # keeps two equal columns solvable
    with np.errstate(all="ignore"):
        for a in every:
            matrix[a, a] = np.where(matrix[a, a] > 0.0, matrix[a, a], np.nan)
            for b in range(a + 1, n):
                factor = matrix[b, a] / matrix[a, a]
                matrix[b, a + 1 :] -= factor * matrix[a, a + 1 :]
                vector[b] -= factor * vector[a]
        for a in reversed(every):
            for b in range(a + 1, n):
                vector[a] -= matrix[a, b] * vector[b]
            vector[a] /= matrix[a, a]
    return vector
