"""The loss of a new run, for a fitted law: with the forecast's interval, or the bootstrap's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.errors import InputError, check_positive
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.forecasting import KnownRuns, Predictive, predictive
from sparselaw.forecasting.refusals import no_floor, refusal
from sparselaw.interval import Interval, drawn_interval
from sparselaw.plain import html_table

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting.fitted_law import FittedLaw

FORECAST = "forecast: the coupled law with a drifting discrepancy, for the loss of one more run"


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedLoss:
    """``intervals`` says where the interval comes from; ``law_loss`` is the fitted law's own value.

    A forecast's interval holds the loss of a new run. The bootstrap's holds the fitted law alone: it does not
    know that the law is wrong, or how runs scatter.
    """

    sizes: tuple[float, ...]
    loss: Interval
    intervals: str
    law_loss: float

    @property
    def low(self) -> float:
        return self.loss.low

    @property
    def best(self) -> float:
        return self.loss.best

    @property
    def high(self) -> float:
        return self.loss.high

    def as_dict(self) -> dict[str, Any]:
        return {
            "sizes": list(self.sizes),
            "loss": self.loss.plain(self.intervals),
            "intervals": self.intervals,
            "law_loss": self.law_loss,
        }

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        sizes = {f"size_{i + 1}": size for i, size in enumerate(self.sizes)}
        return pd.DataFrame([sizes | self.loss.as_dict() | {"intervals": self.intervals}])

    def _repr_html_(self) -> str:
        sizes = ", ".join(f"{size:.4g}" for size in self.sizes)
        return html_table("Loss of a run", ["sizes", "loss"], [[sizes, str(self.loss)]], [self.intervals])


def forecast_interval(fitted: FittedLaw, N: float, D: float) -> tuple[Interval, str]:
    """The loss of a new run at (N, D), and where the interval comes from."""
    found = predict_losses(fitted, (np.array([N]), np.array([D])))[0]
    return found.loss, found.intervals


def no_forecast(fitted: FittedLaw) -> str:
    """Why the runs of this law allow no forecast; empty where they do."""
    if fitted.law.sizes != ("N", "D"):
        return f"{fitted.name} is a law of {', '.join(fitted.law.sizes)}"
    if fitted.law.floor_name is None:
        return f"{fitted.name} is a law without the floor that a forecast supposes"
    runs = known(fitted.runs)
    found = refusal(runs)
    return no_floor(runs) if found is None else found.sentence()


def known(runs: Runs) -> KnownRuns:
    """The runs of a fit as a forecast takes them."""
    return KnownRuns(N=runs.N, D=runs.D, loss=runs.loss, scale=runs.scale, group=runs.group, row=runs.row)


def predictive_of(fitted: FittedLaw) -> Predictive:
    """The posterior of the fit's runs with its back-tests; found when first asked for."""
    if "predictive" not in fitted.memory:
        fitted.memory["predictive"] = predictive(known(fitted.runs))[0]
    found: Predictive = fitted.memory["predictive"]
    return found


def predict_losses(fitted: FittedLaw, sizes: tuple[Any, ...]) -> list[PredictedLoss]:
    """One for each point; ``sizes`` broadcast against each other."""
    wanted = fitted.law.sizes
    if len(sizes) != len(wanted):
        raise InputError("sizes", len(sizes), f"{fitted.name} needs {', '.join(wanted)}", "give each of them")
    for name, size in zip(wanted, sizes, strict=True):
        for value in np.ravel(size):
            check_positive(name, value)
    flat = [np.ravel(size).astype(np.float64) for size in np.broadcast_arrays(*sizes)]
    own = np.ravel(np.asarray(fitted.loss(*flat), dtype=np.float64))
    why_not = no_forecast(fitted)
    if not why_not:
        losses, source = predictive_of(fitted).intervals(flat[0], flat[1]), FORECAST
    else:
        losses, source = _of_draws(fitted, flat, own), f"bootstrap: no forecast, {why_not}"
    points = zip(*flat, strict=True)
    return [
        PredictedLoss(
            sizes=tuple(map(float, point)), loss=losses[i], intervals=source, law_loss=float(own[i])
        )
        for i, point in enumerate(points)
    ]


def _of_draws(fitted: FittedLaw, sizes: list[Any], best: Any) -> list[Interval]:
    if len(fitted.draws) == 0:
        return [Interval(float("nan"), float(value), float("nan")) for value in best]
    drawn = fitted.losses_of_draws(*sizes)
    return [drawn_interval(float(best[i]), drawn[:, i]) for i in range(len(best))]
