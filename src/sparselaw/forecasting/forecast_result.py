"""From known runs to a forecast, and what it hands out: points with intervals, the law, its back-test.

What does not depend on the points is found once (``Prepared``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray, on_one_thread
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting.known_runs import FARTHEST, KnownRuns, check_runs, no_floor, spans_ahead
from sparselaw.forecasting.posterior import Posterior, posterior
from sparselaw.forecasting.predictive import BackTest, Predictive, backtest, calibration
from sparselaw.forecasting.settings import SETTINGS, Settings
from sparselaw.interval import Interval, check_level
from sparselaw.laws import CoupledLaw
from sparselaw.numbers import short_compute, short_number, short_size
from sparselaw.records import Record, Saved, frame, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

KIND = "sparselaw forecast"  # of a file
NO_END = "the interval has no end"
COLUMNS = ("N", "D", "low", "best", "high", "sd", "ahead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull(Record):
    """A run, and the share by which it moves the forecast loss, against the same forecast without it."""

    N: float
    D: float
    loss: float
    moves: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastPoint(Record):
    """A run not yet made. ``sd`` is the standard deviation of the loss; ``ahead`` is how far the run lies
    beyond the most expensive one, in spans of log compute."""

    N: float
    D: float
    loss: Interval
    sd: float
    ahead: float
    pulls: tuple[Pull, ...] = ()
    budget: float | None = None
    reasons: ClassVar[Mapping[str, str]] = {"loss": NO_END}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Forecast(Saved):
    """Losses of runs not yet made, with intervals for the loss itself.

    ``status`` is ``ok``, or the first of ``not-converged``, ``no-floor`` (the losses fall by decades),
    ``far`` (a point lies more than 1.5 spans of log compute ahead), ``pooled`` (a column tells groups of
    rows apart) and ``back-test`` (it was further off than expected, and the interval is wider for it).
    ``level`` is the share that the intervals of the points are meant to hold; those of ``params`` are 95 %.
    ``noise`` is the scatter of a single run, ``discrepancy`` the size of the wiggles about the law, both in
    log loss.
    """

    points: tuple[ForecastPoint, ...]
    level: float
    law: CoupledLaw
    params: Mapping[str, Interval]
    backtest: tuple[BackTest, ...]
    status: str
    warnings: tuple[str, ...]
    rows_used: int
    noise: float
    discrepancy: float
    dropped: Mapping[str, int] = field(default_factory=dict)
    prepared: Prepared = field(repr=False)

    @property
    def runs(self) -> KnownRuns:
        """The runs that are known."""
        return self.prepared.runs

    @property
    def predictive(self) -> Predictive:
        """Of the loss at any sizes."""
        return self.prepared.predictive

    def kept(self) -> tuple[str, dict[str, Any]]:
        """The runs and the points asked for."""
        points = [{"N": p.N, "D": p.D, "budget": p.budget} for p in self.points]
        return KIND, self.prepared.kept() | {"points": points, "level": self.level}

    def predict(
        self, N: Any, D: Any, level: float | None = None
    ) -> ForecastPoint | tuple[ForecastPoint, ...]:
        """The loss of a run at any other sizes.

        Parameters
        ----------
        N, D
            Sizes of the run, or arrays of them that broadcast.
        level
            Share that the interval is meant to hold; that of the forecast unless given.

        Returns
        -------
        ForecastPoint or tuple of ForecastPoint
            One point for numbers, a tuple for arrays.

        Examples
        --------
        >>> import sparselaw as sl
        >>> runs = {"N": [1e8, 2e8, 4e8] * 4, "D": [b * 1e9 for b in (2, 4, 8, 16) for _ in range(3)]}
        >>> runs["loss"] = [2 + 500 / n**0.35 + 900 / d**0.33 for n, d in zip(runs["N"], runs["D"])]
        >>> found = sl.forecast(runs, at=[(1e9, 3e10)])
        >>> point = found.predict(8e8, 3e10)
        >>> bool(point.loss.low < 2 + 500 / 8e8**0.35 + 900 / 3e10**0.33 < point.loss.high)
        True
        """
        sizes = [np.ravel(v) for v in np.broadcast_arrays(np.asarray(N, float), np.asarray(D, float))]
        at = check_points(list(zip(*sizes, strict=True)))
        found = self.prepared.points(at, self.level if level is None else check_level(level))
        return found[0] if np.ndim(N) == 0 and np.ndim(D) == 0 else found

    @property
    def sd(self) -> FloatArray:
        """(points,): standard deviation of the loss at every point asked for."""
        return np.array([point.sd for point in self.points])

    def quantiles(self, probabilities: Any) -> FloatArray:
        """Quantiles of the loss at the points asked for.

        Parameters
        ----------
        probabilities
            Numbers between 0 and 1.

        Returns
        -------
        array (points, probabilities)
        """
        N, D = np.array([(p.N, p.D) for p in self.points]).T
        return self.predictive.quantiles(N, D, probabilities)

    def sample(self, n: int, *, seed: int = 0) -> FloatArray:
        """Draws of the loss of a run at each point; one draw is of all points at once.

        Parameters
        ----------
        n
            Number of draws.
        seed
            The same seed gives the same draws.

        Returns
        -------
        array (n, points)
        """
        N, D = np.array([(p.N, p.D) for p in self.points]).T
        return np.asarray(np.exp(self.predictive.log_draws(N, D, n, seed=seed)))

    @property
    def widening(self) -> float:
        """Width of the intervals over what it would be without a back-test."""
        return self.predictive.calibration.widening

    @property
    def coupling(self) -> Interval:
        """g of the coupled law."""
        return self.params["g"]

    def meaning(self) -> str:
        """What the coupling says, in a sentence."""
        g = self.coupling
        shown = f"coupling g = {g.best:.2f} [{g.low:.2f}, {g.high:.2f}]: "
        if g.high < 1.0:
            return shown + (
                "the scarcer of N and D decides more than in a sum (g = 1, Chinchilla's law), "
                "which would put the floor E too high here"
            )
        if g.low > 1.0:
            return shown + "too small an N and too few data make each other worse than their sum (g = 1)"
        return shown + "these runs do not tell it from a plain sum of both terms (g = 1, Chinchilla's law)"

    def title(self) -> str:
        return f"Forecast by the {self.law.name} law with a drifting discrepancy, {self.rows_used} runs"

    def tables(self) -> dict[str, tuple[str, list[str], list[list[str]]]]:
        """Title, columns and rows of each: points, back-test, law, and what pulls most at the last point."""
        write = "{:#.4g}".format  # 2.000, not 2
        points = [[*_sizes(p), write(p.loss.best), p.loss.ends(write), f"{p.sd:.4g}"] for p in self.points]
        columns = ["N", "D", "loss", f"{100 * self.level:g} % interval", "sd"]
        if any(p.budget is not None for p in self.points):
            columns.insert(0, "budget")
            points = [
                [short_compute(p.budget or 0.0), *row] for p, row in zip(self.points, points, strict=True)
            ]
        tests = [
            [f"{100 * t.cutoff:.0f} % ({t.fitted})", str(t.runs), t.reason or f"{100 * t.covered:.3g} %"]
            + ["-" if t.reason else f"{100 * v:.3g} %" for v in (t.error, t.width)]
            for t in self.backtest
        ]
        pulls = [[*_sizes(r), f"{r.loss:.4g}", f"{100 * r.moves:+.2g} %"] for r in self.points[-1].pulls]
        where = "N = {}, D = {}".format(*_sizes(self.points[-1]))
        return {
            "points": (self.title(), columns, points),
            "backtest": (
                "Back-test: fitted on the cheapest runs, the more expensive ones predicted",
                ["fitted on", "predicted", "inside 95 %", "rms error", "median width"], tests,
            ),
            "law": (
                "The coupled law", ["parameter", "value", "95 % interval"],
                [[name, short_number(v.best), v.ends()] for name, v in self.params.items()],
            ),
            "pulls": (f"Runs that pull most at {where}", ["N", "D", "loss", "moves the forecast by"], pulls),
        }  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        names = ("points", "level", "params", "coupling", "noise", "discrepancy", "backtest", "status")
        found = to_dict(self, *names, "rows_used", "warnings", params=NO_END, coupling=NO_END)
        found |= {"law": self.law.name, "coupling_meaning": self.meaning()}
        return found | {"backtest_widening": self.widening, "rows_dropped": dict(self.dropped)}

    def to_frame(self) -> pd.DataFrame:
        """One row for each point: N, D, low, best, high, sd, ahead (and budget, where asked by budget)."""
        rows = [point.as_dict() | point.loss.as_dict() for point in self.points]
        return frame(rows, *(["budget"] if "budget" in rows[0] else []), *COLUMNS)

    def backtest_frame(self) -> pd.DataFrame:
        """One row for each cut."""
        return frame(self.backtest, "cutoff", "fitted", "runs", "covered", "error", "bias", "width", "reason")

    def __repr__(self) -> str:
        return f"<Forecast: {len(self.points)} points from {self.rows_used} runs, status {self.status}>"

    def __str__(self) -> str:
        """The short table: each point with its interval, the back-tests, and the status."""
        lines = [
            f"  N = {short_size(p.N)}, D = {short_size(p.D)}: loss {p.loss.best:.4g} {p.loss.ends()}"
            for p in self.points
        ]
        tests = [test.words() for test in self.backtest]
        head = f"{self.title()}   (brackets: {100 * self.level:g} % intervals)"
        return "\n".join([head, *lines, *tests, f"status {self.status}", *self.warnings])

    def _repr_html_(self) -> str:
        tests = [test.words() for test in self.backtest]
        notes = [f"status: {self.status}", *self.warnings, self.meaning(), *tests]
        return html_table(*self.tables()["points"], notes, self.law.formula)

    def _repr_latex_(self) -> str:
        return self.law._repr_latex_()


SHOWN_PULLS = 5
WIDER = 1.1  # than without a back-test: it failed


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

    def kept(self) -> dict[str, Any]:
        """The runs for a file, and what there is to say of how they were read."""
        from sparselaw.forecasting.saved import runs_content

        said = {"notes": list(self.notes), "pooled": list(self.pooled), "dropped": dict(self.dropped)}
        return runs_content(self.runs) | said

    @on_one_thread
    def forecast(
        self,
        points: Sequence[tuple[float, float]],
        budgets: Sequence[float] = (),
        level: float = 0.95,
    ) -> Forecast:
        """``budgets`` are the ones that the points spend, where they came from budgets."""
        at, level, used = check_points(points), check_level(level), self.posterior.runs[0]
        found = []
        pulls = self.posterior.pulls(at[:, 0], at[:, 1])
        for i, (point, moves) in enumerate(zip(self.points(at, level), pulls, strict=True)):
            first = np.argsort(-np.abs(moves), kind="stable")[:SHOWN_PULLS]
            table = np.column_stack([used.N, used.D, used.loss, np.expm1(moves)])[first].tolist()
            largest = tuple(Pull(N=N, D=D, loss=loss, moves=share) for N, D, loss, share in table)
            budget = float(budgets[i]) if budgets else None
            found.append(replace(point, pulls=largest, budget=budget))
        said = self._findings(found)
        return Forecast(
            points=tuple(found),
            level=level,
            law=self.posterior.law(),
            params=self.posterior.parameters(),
            backtest=self.backtest,
            status=said[0][0] if said else "ok",
            warnings=(*self.notes, *self.posterior.odd_rows(), *(words for _, words in said)),
            rows_used=len(used),
            noise=float(self.posterior.noise[0]),
            discrepancy=self.posterior.wiggle,
            dropped=self.dropped,
            prepared=self,
        )

    def points(self, at: FloatArray, level: float) -> tuple[ForecastPoint, ...]:
        """The loss of a run at each (N, D) of ``at`` (points, 2)."""
        N, D = at[:, 0], at[:, 1]
        columns = (N, D, self.predictive.sd(N, D), spans_ahead(self.runs, N, D))
        losses = self.predictive.intervals(N, D, level)
        return tuple(
            ForecastPoint(N=n, D=d, loss=loss, sd=sd, ahead=ahead)
            for n, d, sd, ahead, loss in zip(*(v.tolist() for v in columns), losses, strict=True)
        )

    def said(self) -> tuple[str, ...]:
        """What there is to say of the runs, whatever is asked of them."""
        return (*self.notes, *self.posterior.odd_rows(), *(words for _, words in self._findings(())))

    def _findings(self, points: Sequence[ForecastPoint]) -> list[tuple[str, str]]:
        """(status, words), the gravest first."""
        found = []
        if not self.posterior.converged:
            found.append(("not-converged", "the law did not converge: the interval may be wrong"))
        unsuited = no_floor(self.runs)
        if unsuited:
            found.append(("no-floor", f"{unsuited}: fit a law without one instead"))
        for point in points:
            if point.ahead > FARTHEST:
                ahead = f"{point.ahead:.1f} spans of log compute ahead of the runs"
                place = f"N = {short_size(point.N)}, D = {short_size(point.D)} is {ahead}"
                found.append(("far", f"{place}; intervals were checked up to {FARTHEST:g}"))
        found += [("pooled", words) for words in self.pooled]
        wider = self.predictive.calibration.widening
        if wider > WIDER:
            made = "; ".join(test.words() for test in self.backtest if not test.reason)
            failed = "the back-test was further off than expected: the interval is"
            found.append(("back-test", f"{failed} {wider:.2g} times as wide as without it ({made})"))
        return found


def _sizes(run: Any) -> list[str]:
    return [short_size(run.N), short_size(run.D)]


def prepare(
    runs: KnownRuns,
    *,
    dropped: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
    pooled: Sequence[str] = (),
) -> Prepared:
    """Judges the runs and takes everything from them that does not depend on the points."""
    check_runs(runs)
    used = runs.in_order().thinned(SETTINGS.most_rows)
    thin = f"{len(used)} of {len(runs)} rows used, evenly along compute"
    found, tests = predictive(used)
    return Prepared(
        runs=runs,
        predictive=found,
        backtest=tests,
        dropped=dict(dropped or {}),
        pooled=tuple(pooled),
        notes=(*notes, *([thin] * (len(used) < len(runs)))),
    )


@on_one_thread
def predictive(runs: KnownRuns, settings: Settings = SETTINGS) -> tuple[Predictive, tuple[BackTest, ...]]:
    """The posterior corrected by its back-tests, and these."""
    tests = backtest(runs, settings)
    return Predictive(posterior=posterior(runs, settings), calibration=calibration(tests, settings)), tests


def check_points(at: Sequence[Any]) -> FloatArray:
    """(points, 2), all positive; one pair is one point."""
    pairs = list(at)
    if isinstance(at, tuple) and len(at) == 2 and all(isinstance(size, float | int) for size in at):
        pairs = [at]
    if not pairs:
        raise InputError("at", "", "has no points", "give (N, D) of at least one run")
    for pair in pairs:
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError("at", pair, "is not a pair (N, D)", "write at=[(N, D)]")
    return np.array([[check_positive("N", N), check_positive("D", D)] for N, D in pairs])
