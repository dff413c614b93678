"""One point of a learning curve of real features: measured on rows drawn apart, and by each theory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.interval import Interval, student_factor, student_interval
from sparselaw.measuring.learning_curve import LearnedPoint, WidthPoint
from sparselaw.measuring.measured_losses import (
    Factored,
    LeftOpen,
    left_open,
    projected_loss,
    random_signs,
    shuffled_columns,
)
from sparselaw.measuring.predicted_losses import cavity_loss, sparse_loss
from sparselaw.measuring.rarefaction import histogram, rarefied
from sparselaw.measuring.spectral_density import Spectrum, spectrum
from sparselaw.progress import Show

WORK = 2e10  # multiplications for the test rows of a point
TEST_ROWS = (400, 4000)
NORMAL = 1.96  # the 95 % point of the normal law
WIDTH_ENTRIES = 30_000_000  # rows times N held at once
SPECTRUM_NONZEROS = 8_000_000


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """A matrix of rows with what its columns hold in all."""

    x: Any
    energy: FloatArray
    count: np.ndarray
    rng_seed: int

    @property
    def rows(self) -> int:
        return int(self.x.shape[0])

    @property
    def total(self) -> float:
        return float(self.energy.sum()) / self.rows


class Meter:
    """How far it has come."""

    def __init__(self, show: Show, total: float) -> None:
        self._show, self._total, self._done = show, total, 0.0

    def step(self, work: float, text: str) -> None:
        self._done += work
        self._show(self._done, self._total, text)


class Draws:
    """Losses of several draws of training and test rows out of the same ``rows``, and how sure their mean is.

    Two things are uncertain. Which rows train: the variance between draws, and rows/D draws at most are
    independent. Which rows test: where they are few, all draws test on nearly the same ones, and their
    variance does not show between draws; so it is taken row by row, a row of several draws once: sum_t r_t^2
    with r_t the mean over draws of (open_t - share s_t) / sum_u s_u, s_t the sum of squares of row t.
    """

    def __init__(self, rows: int, D: int) -> None:
        self._independent = rows / D
        self._shares: list[float] = []
        self._within: list[float] = []
        self._residual = np.zeros(rows)

    def add(self, test: np.ndarray, found: LeftOpen) -> None:
        """What one draw left open of its test rows."""
        residual = (found.open - found.share * found.energy) / float(found.energy.sum())
        self._shares.append(found.share)
        self._within.append(float(residual @ residual))
        self._residual[test] += residual

    def interval(self) -> Interval:
        """The mean loss with a 95 % interval for rows that nobody has drawn yet."""
        count, best = len(self._shares), float(np.mean(self._shares))
        if count < 2:
            return Interval(math.nan, best, math.nan)
        between = max(float(np.var(self._shares, ddof=1)), float(np.mean(self._within)))
        training = student_factor(count) * math.sqrt(between / min(count, self._independent))
        testing = NORMAL * float(np.linalg.norm(self._residual)) / count
        half = math.hypot(training, testing)
        return Interval(max(best - half, 0.0), best, best + half)


def learned_point(
    data: FeatureRows, eigen: Spectrum, D: int, seeds: int, y: FloatArray | None, meter: Meter
) -> LearnedPoint:
    """Everything at one D: the theories once, the graph and the measured losses for each draw of the rows."""
    measured, signs, shuffled = (Draws(data.rows, D) for _ in range(3))
    cavity, seen, target = [], [], []
    for train, test, rng in _draws(data, D, seeds):
        x_train, x_test = data.x[train], data.x[test]
        measured.add(test, left_open(x_train, x_test))
        both = data.x[np.concatenate([train, test])]
        turned = random_signs(both, rng)
        signs.add(test, left_open(turned[:D], turned[D:]))
        moved = shuffled_columns(both, rng)
        moved = random_signs(moved, rng)
        shuffled.add(test, left_open(moved[:D], moved[D:]))
        rest = (data.energy - column_energy(x_train)) / (data.rows - D)
        cavity.append(cavity_loss(x_train, np.maximum(rest, 0.0)).loss / float(rest.sum()))
        seen.append(np.unique(x_train.indices).size)
        if y is not None:
            target.append(_target_loss(x_train, x_test, y[train], y[test]))
        meter.step(D / 2000.0, f"D = {D}")
    active = (data.count > 0) & (data.energy > 0.0)
    n, energy = data.count[active], data.energy[active]
    p, c = n / data.rows, energy / n
    return LearnedPoint(
        D=D,
        K=float(np.mean(seen)),
        measured=measured.interval(),
        unseen=rarefied(histogram(data.rows, n, energy), float(D)).unseen,
        sparse=sparse_loss(p, c, float(D)) / data.total,
        cavity=float(np.mean(cavity)),
        gaussian=eigen.loss(float(D)) / eigen.total,
        signs=signs.interval(),
        shuffled=shuffled.interval(),
        target=_interval(target) if target else None,
    )


def width_point(data: FeatureRows, eigen: Spectrum, N: int, seeds: int, meter: Meter) -> WidthPoint:
    """The loss of N random features with as many rows as are at hand."""
    many = int(min(data.rows - data.rows // 8, WIDTH_ENTRIES // N))
    measured = []
    for train, test, rng in _draws(data, many, seeds):
        measured.append(projected_loss(data.x[train], data.x[test], N, rng))
    energies = data.energy[data.energy > 0.0] / data.rows
    alone = Spectrum(energies, np.ones(energies.size))
    meter.step(1.0, f"N = {N}")
    return WidthPoint(
        N=N,
        D=many,
        measured=_interval(measured),
        gaussian=eigen.loss(float(N)) / eigen.total * many / (many - N - 1.0),
        diagonal=alone.loss(float(N)) / alone.total * many / (many - N - 1.0),
    )


def _draws(
    data: FeatureRows, D: int, seeds: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.random.Generator]]:
    """Training and test rows, drawn apart."""
    most = int(min(max(WORK / D**2, TEST_ROWS[0]), TEST_ROWS[1], data.rows - D))
    for i in range(seeds):
        rng = np.random.default_rng([data.rng_seed, D, i])
        order = rng.permutation(data.rows)
        yield order[:D], order[D : D + most], rng


def _target_loss(train: Any, test: Any, y: FloatArray, answers: FloatArray) -> float:
    """The mean squared error of the target over its mean square."""
    factor = Factored.of(train)
    found = np.zeros(answers.size) if factor is None else factor.prediction(y, test)
    energy = float(answers @ answers)
    return float(((answers - found) ** 2).sum()) / energy if energy > 0.0 else math.nan


def eigenvalues(data: FeatureRows, seed: int) -> Spectrum:
    """Of all rows, or of as many as can be multiplied in seconds."""
    share = SPECTRUM_NONZEROS / max(data.x.nnz, 1)
    if share >= 1.0:
        return spectrum(data.x, seed=seed)
    rows = np.random.default_rng(seed).permutation(data.rows)[: int(share * data.rows)]
    return spectrum(data.x[np.sort(rows)], seed=seed)


def column_energy(x: Any) -> FloatArray:
    return np.asarray(x.multiply(x).sum(axis=0)).ravel()


def _interval(values: Sequence[float]) -> Interval:
    if len(values) < 2:
        return Interval(math.nan, float(values[0]), math.nan)
    return student_interval(values)
