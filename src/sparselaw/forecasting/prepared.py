"""From known runs to a forecast: what does not depend on the points is found once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting.backtest import BackTest, backtest, calibration
from sparselaw.forecasting.forecast_result import Forecast, ForecastPoint, Pull
from sparselaw.forecasting.known_runs import KnownRuns
from sparselaw.forecasting.posterior import Posterior, posterior
from sparselaw.forecasting.predictive import Predictive
from sparselaw.forecasting.refusals import FARTHEST, check_runs, no_floor, spans_ahead
from sparselaw.forecasting.settings import SETTINGS, Settings
from sparselaw.interval import check_level

SHOWN_PULLS = 5
SHOWN_ROWS = 3  # of those that lie far from the law
WIDER = 1.05  # than without a back-test: it failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Runs that allow a forecast, their posterior and their back-test: points are then cheap."""

    runs: KnownRuns
    predictive: Predictive
    backtest: tuple[BackTest, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()  # columns that tell groups of rows apart, in words

    @property
    def posterior(self) -> Posterior:
        return self.predictive.posterior

    def forecast(
        self,
        points: Sequence[tuple[float, float]],
        budgets: Sequence[float] = (),
        level: float = 0.95,
    ) -> Forecast:
        """``budgets`` are the ones that the points spend, where they came from budgets."""
        at, level = check_points(points), check_level(level)
        N, D = at[:, 0], at[:, 1]
        pulls = self.posterior.pulls(N, D)
        found = tuple(
            ForecastPoint(
                N=float(N[i]),
                D=float(D[i]),
                loss=loss,
                sd=sd,
                ahead=ahead,
                pulls=self._largest(pulls[i]),
                budget=float(budgets[i]) if budgets else None,
            )
            for i, (loss, sd, ahead) in enumerate(
                zip(
                    self.predictive.intervals(N, D, level),
                    map(float, self.predictive.sd(N, D)),
                    map(float, spans_ahead(self.runs, N, D)),
                    strict=True,
                )
            )
        )
        said = self._findings(found)
        return Forecast(
            points=found,
            level=level,
            law=self.posterior.law(),
            params=self.posterior.parameters(),
            backtest=self.backtest,
            status=said[0][0] if said else "ok",
            warnings=(*self.notes, *self._odd_rows(), *(words for _, words in said)),
            rows_used=len(self.posterior.runs[0]),
            noise=float(self.posterior.noise[0]),
            discrepancy=self.posterior.wiggle,
            dropped=self.dropped,
            runs=self.runs,
            predictive=self.predictive,
        )

    def said(self) -> tuple[str, ...]:
        """What there is to say of the runs, whatever is asked of them."""
        return (*self.notes, *self._odd_rows(), *(words for _, words in self._findings(())))

    def _largest(self, pulls: FloatArray) -> tuple[Pull, ...]:
        first = np.argsort(-np.abs(pulls), kind="stable")[:SHOWN_PULLS]
        used = self.posterior.runs[0]
        return tuple(
            Pull(
                N=float(used.N[i]),
                D=float(used.D[i]),
                loss=float(used.loss[i]),
                moves=float(np.expm1(pulls[i])),
            )
            for i in first
        )

    def _odd_rows(self) -> tuple[str, ...]:
        """Rows so far from the law that they hardly count."""
        alone, used = self.posterior.alone[0], self.posterior.runs[0]
        far = alone.far_off()
        if far.size == 0:
            return ()
        shown = []
        for i in far[:SHOWN_ROWS]:
            place = "" if used.row is None else f"row {int(used.row[i]) + 1}: "
            off = 100.0 * float(np.expm1(alone.residuals[i]))
            shown.append(
                f"{place}N = {used.N[i]:.3g}, D = {used.D[i]:.3g}, loss {used.loss[i]:.4g}, {off:+.3g} %"
            )
        more = f"; and {far.size - SHOWN_ROWS} more" if far.size > SHOWN_ROWS else ""
        return (f"far from the law, and hardly counted ({'; '.join(shown)}{more})",)

    def _findings(self, points: Sequence[ForecastPoint]) -> list[tuple[str, str]]:
        """(status, words), the gravest first."""
        found = []
        if not self.posterior.converged:
            found.append(("not-converged", "the law did not converge: the interval may be wrong"))
        unsuited = no_floor(self.runs)
        if unsuited:
            found.append(("no-floor", f"{unsuited}: fit a law without one instead"))
        found += [("far", _far(point)) for point in points if point.ahead > FARTHEST]
        found += [("pooled", words) for words in self.pooled]
        if self.predictive.calibration.widening > WIDER:
            found.append(("back-test", self._failed()))
        return found

    def _failed(self) -> str:
        made = "; ".join(test.words() for test in self.backtest if not test.reason)
        wider = self.predictive.calibration.widening
        return (
            f"the back-test was further off than expected: the interval is {wider:.2g} times "
            f"as wide as without it ({made})"
        )


def _far(point: ForecastPoint) -> str:
    return (
        f"N = {point.N:.3g}, D = {point.D:.3g} is {point.ahead:.1f} spans of log compute ahead of the runs; "
        f"intervals were checked up to {FARTHEST:g}"
    )


def prepare(
    runs: KnownRuns,
    *,
    dropped: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
    pooled: Sequence[str] = (),
    settings: Settings = SETTINGS,
) -> Prepared:
    """Judges the runs and takes everything from them that does not depend on the points."""
    check_runs(runs)
    used = runs.in_order().thinned(settings.most_rows)
    thin = f"{len(used)} of {len(runs)} rows used, evenly along compute"
    found, tests = predictive(used, settings)
    return Prepared(
        runs=runs,
        predictive=found,
        backtest=tests,
        dropped=dict(dropped or {}),
        pooled=tuple(pooled),
        notes=(*notes, *([thin] * (len(used) < len(runs)))),
    )


def predictive(runs: KnownRuns, settings: Settings = SETTINGS) -> tuple[Predictive, tuple[BackTest, ...]]:
    """The posterior corrected by its back-tests, and these."""
    tests = backtest(runs, settings)
    found = Predictive(posterior=posterior(runs, settings), calibration=calibration(tests, settings))
    return found, tests


def check_points(at: Sequence[tuple[float, float]]) -> FloatArray:
    """(points, 2), all positive."""
    pairs = list(at)
    if not pairs:
        raise InputError("at", "", "has no points", "give (N, D) of at least one run")
    for pair in pairs:
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError("at", pair, "is not a pair (N, D)", "write at=[(N, D)]")
    return np.array([[check_positive("N", N), check_positive("D", D)] for N, D in pairs])
