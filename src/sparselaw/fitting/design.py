"""A law and a table of runs as the arrays the minimiser works on, and back to a law.

Logarithms are centred (sizes on their mean, losses on their median), so the fit is the same whatever the
units of N, D and the loss: only the intercepts shift. Parameters in theta are the logarithms of E, A and B at
the centre, then the exponents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.laws import ChinchillaLaw, Law, PowerLaw, TwoPowerLaw

LawName = Literal["chinchilla", "two-power", "power"]

EXPONENT_RANGE = (1e-3, 30.0)
LOWEST_FLOOR = 18.0  # log E may fall this far below the smallest log loss: E is then zero for any purpose
LARGEST_INTERCEPT = 400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs a law is fitted to: positive, finite, at least one. ``group`` numbers the whole runs."""

    N: FloatArray
    D: FloatArray
    loss: FloatArray
    scale: FloatArray  # relative standard errors over their median; ones where the table has none
    group: IntArray | None = None

    def take(self, rows: npt.NDArray[np.bool_] | IntArray) -> Runs:
        group = None if self.group is None else self.group[rows]
        return Runs(N=self.N[rows], D=self.D[rows], loss=self.loss[rows], scale=self.scale[rows], group=group)

    def __len__(self) -> int:
        return self.loss.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What the minimiser reads. Term k of row i is theta[intercept_k + sweep_i] - theta[slope_k] x_ki."""

    x: FloatArray  # (terms, rows): centred log sizes
    intercept: IntArray  # (terms,)
    slope: IntArray  # (terms,): -1 for a term without an exponent
    sweep: IntArray  # (rows,): which intercept of a power law with several sweeps
    log_loss: FloatArray  # (rows,): centred
    inverse_scale: FloatArray  # (rows,)
    lower: FloatArray
    upper: FloatArray
    names: tuple[str, ...]  # of the natural parameters, in the order of theta
    centres: FloatArray  # (terms,): what was subtracted from the log sizes
    centre: float  # what was subtracted from the log losses

    @property
    def rows(self) -> int:
        return int(self.log_loss.size)

    def with_log_loss(self, log_loss: FloatArray) -> Design:
        """The same design with other losses, already centred."""
        return replace(self, log_loss=np.ascontiguousarray(log_loss))

    def take(self, rows: IntArray) -> Design:
        return replace(
            self,
            x=np.ascontiguousarray(self.x[:, rows]),
            sweep=self.sweep[rows],
            log_loss=self.log_loss[rows],
            inverse_scale=self.inverse_scale[rows],
        )

    def shares(self, theta: FloatArray) -> FloatArray:
        """(terms, rows): the part of the predicted loss that each term gives."""
        t = self._terms(theta)
        share: FloatArray = np.exp(t - np.logaddexp.reduce(t, axis=0))
        return share

    def residuals(self, theta: FloatArray) -> FloatArray:
        """log loss minus log prediction, not divided by the scale."""
        difference: FloatArray = self.log_loss - np.logaddexp.reduce(self._terms(theta), axis=0)
        return difference

    def _terms(self, theta: FloatArray) -> FloatArray:
        slopes = np.where(self.slope >= 0, theta[self.slope], 0.0)
        terms: FloatArray = theta[self.intercept[:, None] + self.sweep[None, :]] - slopes[:, None] * self.x
        return terms

    def natural(self, theta: FloatArray) -> FloatArray:
        """The law's own parameters for one theta (p,) or many (draws, p), in the order of ``names``.

        For a power law with several sweeps every sweep has its own A.
        """
        theta = np.atleast_2d(theta)
        values = theta.copy()
        sweeps = int(self.sweep.max()) + 1
        for k, start in enumerate(self.intercept):
            exponent = theta[:, self.slope[k]] if self.slope[k] >= 0 else 0.0
            for column in range(start, start + sweeps):
                with np.errstate(over="ignore"):
                    values[:, column] = np.exp(theta[:, column] + self.centre + exponent * self.centres[k])
                values[theta[:, column] <= self.lower[column], column] = 0.0
        return values if values.shape[0] != 1 else values[0]

    def law(self, theta: FloatArray) -> Law:
        """The law at theta; for several sweeps, the first one's."""
        values = dict(zip(self.names, (float(v) for v in self.natural(theta)), strict=True))
        if "E" in values:
            return ChinchillaLaw(**values)
        if "B" in values:
            return TwoPowerLaw(**values)
        return PowerLaw(A=float(self.natural(theta)[0]), alpha=values["alpha"])


def two_size_design(runs: Runs, law: LawName, tied: bool = False) -> Design:
    """The design of ``chinchilla`` or ``two-power``; ``tied`` has one exponent for N and D."""
    floor = law == "chinchilla"
    log_N, log_D, log_loss = np.log(runs.N), np.log(runs.D), np.log(runs.loss)
    centres = np.array([log_N.mean(), log_D.mean()])
    centre = float(np.median(log_loss))
    x = np.stack([log_N - centres[0], log_D - centres[1]])
    first = 1 if floor else 0  # index of A
    slope = np.array([first + 2, first + (2 if tied else 3)])
    intercept = np.array([first, first + 1])
    names = ("alpha", "beta") if floor else ("alpha_N", "alpha_D")
    if floor:
        x = np.vstack([np.zeros(len(runs)), x])
        centres = np.concatenate([[0.0], centres])
        intercept, slope = np.concatenate([[0], intercept]), np.concatenate([[-1], slope])
    smallest, largest = float(log_loss.min()) - centre, float(log_loss.max()) - centre
    exponents = 1 if tied else 2
    return Design(
        x=np.ascontiguousarray(x),
        intercept=intercept,
        slope=slope,
        sweep=np.zeros(len(runs), np.int64),
        log_loss=log_loss - centre,
        inverse_scale=1.0 / runs.scale,
        lower=np.array(
            [smallest - LOWEST_FLOOR] * first + [-LARGEST_INTERCEPT] * 2 + [EXPONENT_RANGE[0]] * exponents
        ),
        upper=np.array([largest + 1.0] * first + [LARGEST_INTERCEPT] * 2 + [EXPONENT_RANGE[1]] * exponents),
        names=(("E",) if floor else ()) + ("A", "B") + (names[:1] if tied else names),
        centres=centres,
        centre=centre,
    )


def sweep_design(
    size: FloatArray, loss: FloatArray, scale: FloatArray, sweep: IntArray, names: tuple[str, ...]
) -> Design:
    """The design of ``power``: one exponent for every sweep, an intercept for each."""
    log_size, log_loss = np.log(size), np.log(loss)
    centre, middle = float(np.median(log_loss)), float(log_size.mean())
    sweeps = int(sweep.max()) + 1
    return Design(
        x=(log_size - middle)[None, :].copy(),
        intercept=np.array([0]),
        slope=np.array([sweeps]),
        sweep=sweep.astype(np.int64),
        log_loss=log_loss - centre,
        inverse_scale=1.0 / scale,
        lower=np.array([-LARGEST_INTERCEPT] * sweeps + [-EXPONENT_RANGE[1]]),
        upper=np.array([LARGEST_INTERCEPT] * sweeps + [EXPONENT_RANGE[1]]),
        names=names,
        centres=np.array([middle]),
        centre=centre,
    )
