"""What is known after a fit of loss curves."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.curves.ends import BestSchedule, CurveEnd, Earlier, ScheduleEnd, annealed, back_test
from sparselaw.curves.model import Model
from sparselaw.curves.schedules import Schedule
from sparselaw.interval import Interval
from sparselaw.numbers import short_probability, short_size
from sparselaw.progress import progress
from sparselaw.records import html_table

if TYPE_CHECKING:
    import pandas as pd

TESTED = 8  # curves of which the back-test is made: the running ones, or else the first
THEORY = {"p": 1.0, "m": 0.0, "r": 1.0}


def theory_beside(params: Mapping[str, Interval]) -> dict[str, Any]:
    """What the theory of SGD says of the same curve: the spectrum of its exponent, and what should hold then.

    On power-law features of which the variances fall as j^-s, s = alpha1 + alpha2 + 2, gradient flow has
    tau^-(1 - 1/s) left after one pass, and noise put in at one moment is forgotten as the sum over j of
    s_j^2 exp(-2 s_j u), with the tail u^-(2 - 1/s) = u^-(1 + a): the exponent of the descent is that of the
    memory too. The noise is proportional to the rate (p = 1), and with noisy labels it does not fall with
    time (m = 0). ``spectrum`` is s for which 1 - 1/s is the exponent a, infinite from a = 1 on.
    """
    spectrum = Interval(*(1.0 / (1.0 - a) if a < 1.0 else np.inf for a in params["a"]))
    falls = f"j^-{spectrum.best:.3g}"
    words = f"read as SGD on power-law features, a stands for variances that fall as {falls}"
    off = [
        f"{name} = {params[name].best:.2g} {params[name].ends()} where the theory has {value:g}"
        for name, value in THEORY.items()
        if name in params and not params[name].contains(value)  # fixed where it is not there
    ]
    words += f"; against it, {' and '.join(off)}" if off else ""
    shown = {"spectrum": spectrum.to_dict("a is 1 or more"), **THEORY}
    return {**shown, "kernel_tail": "u^-(1+a)", "words": words}


@dataclass(frozen=True, kw_only=True)
class CurveFit:
    """A law of loss curves fitted to runs, and how runs and schedules end by it.

    Attributes
    ----------
    params : mapping of str to Interval
        Parameters of ``formula``, in which eta0 and tau0 are ``units``.
    curves : tuple of CurveEnd
        For every run ``run``, ``seen`` (share of its planned steps), ``final`` (interval).
    schedules : tuple of ScheduleEnd
        For every schedule asked for ``final``, ``difference`` to the run ``against``, ``probability``.
    best : BestSchedule or None
        A schedule to try, where one was asked for.
    status : str
        ``ok``, or the first of the limits that applies; ``warnings`` has a line for each.
    """

    model: Model
    params: Mapping[str, Interval]
    curves: tuple[CurveEnd, ...]
    schedules: tuple[ScheduleEnd, ...]
    asked: tuple[Schedule, ...]
    best: BestSchedule | None
    status: str
    warnings: tuple[str, ...]
    clock: str

    @property
    def formula(self) -> str:
        return self.model.estimate.form.formula

    @property
    def units(self) -> dict[str, float]:
        """eta0 and tau0 (and N0) of the formula."""
        units = self.model.estimate.units
        return {"eta0": units.rate, "tau0": units.tau} | (
            {"N0": units.N} if self.model.estimate.several_sizes else {}
        )

    @property
    def theory(self) -> dict[str, Any]:
        """What the theory of SGD says of the same exponent, as in the JSON; ``words`` is a sentence."""
        return theory_beside(self.params)

    @property
    def misfit(self) -> float:
        """Standard deviation of the residuals of log losses."""
        return float(np.std(self.model.estimate.residual))

    def predict(self, schedule: Any, *, N: float | None = None, run: str | None = None) -> Interval:
        """The final loss under a schedule, with its 95 % interval.

        Parameters
        ----------
        schedule : str, path, (step, lr) or Schedule
            As in ``sl.fit_curves``.
        N : float, optional
            Size of the model, where several were fitted.
        run : str, optional
            A run that the schedule continues; found by its rates unless given.

        Returns
        -------
        Interval
        """
        from sparselaw.curves.fitting_curves import read_schedule, sizes_asked

        made = read_schedule(schedule, self.model.logs)
        (size,) = sizes_asked(self.model, None if N is None else [N])[:1]
        return self.model.loss(self.model.under(made, size, None if run is None else self.model.number(run)))

    @functools.cached_property
    def backtest(self) -> dict[str, tuple[Earlier, ...]]:
        """What would have been said earlier of running curves, or of the first where none is running.

        Fitted anew to the first 30, 50 and 70 % of the measured steps; the last measured loss is predicted.
        """
        logs = self.model.logs
        every = range(len(logs))
        chosen = ([i for i in every if self.model.running(i)] or list(every))[:TESTED]
        found = {}
        with progress("back-test") as show:
            for done, i in enumerate(chosen, start=1):
                found[logs[i].name] = back_test(logs, i)
                show(done, len(chosen), f"{done}/{len(chosen)}")
        return found

    def finals(self) -> pd.DataFrame:
        """N, D, annealed loss and standard error of every run, for ``fit``, ``forecast`` and ``compare``.

        A run that was not annealed is taken as it would have ended with its last fifth of steps on a straight
        decay to a tenth of its peak rate (``annealed`` then says ``predicted``).
        """
        import pandas as pd

        table = pd.DataFrame(annealed(self.model))
        return table.drop(columns="N") if table["N"].isna().all() else table

    def title(self) -> str:
        count = len(self.curves)
        return f"Law of {count} loss curve{'s' * (count != 1)}, residuals {100 * self.misfit:.2g} %"

    def tables(self) -> dict[str, tuple[str, list[str], list[list[str]]]]:
        """Title, columns and rows of each: runs, schedules, back-test and law."""
        sized = any(end.N is not None for end in self.schedules)
        runs = [
            [e.run, f"{e.steps:.6g}", f"{100 * e.seen:.0f} %", f"{e.loss:.4g}", f"{e.final.best:.4g}",
             e.final.ends()]
            for e in self.curves
        ]  # fmt: skip
        schedules = [
            [
                e.schedule, *([] if e.N is None else [short_size(e.N)]), f"{e.final.best:.4g}",
                e.final.ends(), e.against, f"{e.difference.best:+.4f} {e.difference.ends('{:+.4f}'.format)}",
                short_probability(e.probability),
            ]
            for e in self.schedules
        ]  # fmt: skip
        tests = [
            [run, f"{100 * t.cutoff:.0f} %"]
            + ([t.reason, "-"] if t.loss is None else [f"{t.loss.best:.4g}", t.loss.ends()])
            + [f"{t.measured:.4g}"]
            for run, tests in self.backtest.items()
            for t in tests
        ]
        end, compared = ["final loss", "95 % interval"], ["against", "difference", "P(better)"]
        law = [[name, f"{v.best:.4g}", v.ends()] for name, v in self.params.items()]
        return {
            "runs": (self.title(), ["run", "steps", "seen", "last loss", *end], runs),
            "schedules": ("Schedules", ["schedule", *["N"] * sized, *end, *compared], schedules),
            "backtest": (
                "Back-test: the last measured loss, predicted from the first part of the run",
                ["run", "seen", "predicted", "95 % interval", "measured"], tests,
            ),
            "law": (self.formula, ["parameter", "value", "95 % interval"], law),
        }  # fmt: skip

    def as_dict(self, backtest: bool = True) -> dict[str, Any]:
        """For JSON. ``backtest`` says whether it is made, which takes a fit for each cut of each curve."""
        tests = self.backtest if backtest else {}
        curves = [
            end.as_dict() | ({"backtest": [t.as_dict() for t in tests[end.run]]} if end.run in tests else {})
            for end in self.curves
        ]
        return {
            "law": self.model.estimate.form.name, "formula": self.formula, "units": self.units,
            "params": {name: value.to_dict("not known") for name, value in self.params.items()},
            "curves": curves, "schedules": [end.as_dict() for end in self.schedules],
            **({} if self.best is None else {"best": self.best.as_dict()}),
            "theory": self.theory,
            "residuals": 100.0 * self.misfit, "clock": self.clock, "status": self.status,
            "warnings": list(self.warnings),
        }  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """One row for each run, then one for each schedule."""
        import pandas as pd

        rows = [{"curve": e.run, "seen": e.seen, **e.final.as_dict()} for e in self.curves]
        return pd.DataFrame(rows + [{"curve": e.schedule, **e.final.as_dict()} for e in self.schedules])

    def _repr_html_(self) -> str:
        rows: Sequence[Sequence[object]] = [
            *([e.run, f"{100 * e.seen:.0f} %", e.final] for e in self.curves),
            *([e.schedule, "asked for", e.final] for e in self.schedules),
        ]
        notes = [f"status {self.status}", *self.warnings]
        return html_table(self.title(), ["curve", "seen", "final loss"], rows, notes)
