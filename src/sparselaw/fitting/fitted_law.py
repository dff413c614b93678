"""What a fit hands out: the law, how it was reached, and how sure one may be of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.goodness import Goodness, goodness
from sparselaw.fitting.objectives import ObjectiveName
from sparselaw.interval import Interval
from sparselaw.laws import Law
from sparselaw.plain import html_table, put

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting.predicted import PredictedLoss
    from sparselaw.fitting.readings import SparsityReading

NO_DRAWS = "no draws: bootstrap 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualityTest:
    """Is alpha_N = alpha_D? A likelihood-ratio statistic, and how often chance exceeds it."""

    statistic: float
    p_value: float
    exponent: float  # the one exponent of the fit that has them equal
    method: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "statistic": self.statistic,
            "p_value": self.p_value,
            "exponent": self.exponent,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One line of the leave-out table: what went, what remained, what the fit then says."""

    left_out: str
    rows_used: int
    alpha_N: float
    alpha_D: float
    alpha1: Interval

    def as_dict(self) -> dict[str, Any]:
        return {
            "left_out": self.left_out,
            "rows_used": self.rows_used,
            "alpha_N": self.alpha_N,
            "alpha_D": self.alpha_D,
            "alpha1": self.alpha1.plain(NO_DRAWS),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLaw:
    """A law at its optimum, with 95 % intervals from the draws.

    ``status`` is ``ok``, ``not-converged``, ``collinear``, ``not-identified``, ``bound``, ``few-rows``,
    ``pooled`` or ``E-not-identified``: the first that applies; ``warnings`` has all of them in words. An
    interval has no ends (nan) when no draws were asked for.
    """

    law: Law
    objective: ObjectiveName
    delta: float | None  # where Huber's square turns into an absolute value
    value: float
    gradient_norm: float
    status: str
    starts_tried: int
    starts_agreeing: int
    rows_used: int
    params: Mapping[str, Interval]
    sparsity: Mapping[str, Interval] | None
    sparsity_reason: str  # why there is none: a power law, or a fit without two exponents
    draws: FloatArray = field(repr=False)  # (draws, p): parameters in the order of ``params``
    runs: Runs = field(repr=False)  # the rows the law was fitted to
    residuals: FloatArray = field(repr=False)  # log loss minus log prediction, row by row
    equal_exponents: EqualityTest | None = None
    leave_out: tuple[LeftOut, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seed: int = 0
    memory: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # found when asked for

    @property
    def name(self) -> str:
        """The law's name."""
        return self.law.name

    @property
    def goodness(self) -> Goodness:
        """How far the runs lie from the law, in per cent, and which lie furthest."""
        return goodness(self.residuals, self.runs)

    def loss(self, *sizes: Any) -> Any:
        """The fitted loss at (N, D), or at the law's own sizes in their order."""
        return self.law.loss(*sizes)

    def predict(self, *sizes: Any) -> PredictedLoss | tuple[PredictedLoss, ...]:
        """The loss of a new run at (N, D), with the forecast's 95 % interval where the runs allow one.

        Elsewhere the bootstrap's, which is the law's alone; ``intervals`` says which. Several sizes give a
        tuple, one for each.
        """
        from sparselaw.fitting.predicted import predict_losses

        found = predict_losses(self, sizes)
        return found[0] if all(np.ndim(size) == 0 for size in sizes) else tuple(found)

    def drawn_law(self, axes: int = 1) -> Law:
        """Every draw as one law: its parameters are arrays (draws, 1, ...) with ``axes`` axes for the sizes.

        With several sweeps, the first one's.
        """
        shape = (len(self.draws),) + (1,) * axes
        kind = type(self.law)
        columns = {name.partition("[")[0]: i for i, name in reversed(list(enumerate(self.params)))}
        return kind(**{name: self.draws[:, columns[name]].reshape(shape) for name in kind.parameters()})

    def losses_of_draws(self, *sizes: Any) -> FloatArray:
        """(draws, ...): the loss of every draw, for sizes that broadcast against each other."""
        axes = max(np.ndim(size) for size in sizes)
        return np.asarray(self.drawn_law(axes).loss(*sizes), dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        result: dict[str, Any] = {"law": self.name, "objective": self.objective}
        put(result, "value", self.value, "the objective is not finite")
        put(result, "gradient_norm", self.gradient_norm, "the gradient is not finite")
        result |= {
            "status": self.status,
            "starts_tried": self.starts_tried,
            "starts_agreeing": self.starts_agreeing,
            "rows_used": self.rows_used,
            "rows_dropped": dict(self.dropped),
            "residuals": self.goodness.as_dict(),
            "draws": len(self.draws),
            "params": {name: v.plain(NO_DRAWS) for name, v in self.params.items()},
            "sparsity": None,
            "equal_exponents": None,
        }
        if self.delta is not None:
            result["delta"] = self.delta
        if self.sparsity is None:
            result["sparsity_reason"] = self.sparsity_reason
        else:
            result["sparsity"] = {name: v.plain(NO_DRAWS) for name, v in self.sparsity.items()}
        result["sparsity_by_law"] = [reading.as_dict() for reading in self.sparsity_readings()]
        result["sparsity_words"] = list(self.sparsity_words())
        if self.equal_exponents is None:
            result["equal_exponents_reason"] = "needs two exponents, draws, and at most 10000 rows"
        else:
            result["equal_exponents"] = self.equal_exponents.as_dict()
        result["leave_out"] = [line.as_dict() for line in self.leave_out]
        result["warnings"] = list(self.warnings)
        return result

    def quantities(self) -> dict[str, Interval]:
        """Parameters, and the sparsity where there is one."""
        return {**self.params, **(self.sparsity or {})}

    def to_frame(self) -> pd.DataFrame:
        """One row for each parameter and for alpha1, alpha2: low, best, high."""
        import pandas as pd

        rows = {name: v.as_dict() for name, v in self.quantities().items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["low", "best", "high"])

    def leave_out_frame(self) -> pd.DataFrame:
        """The leave-out table: what went, the rows that stayed, the exponents and alpha1 then."""
        import pandas as pd

        lines = [
            {
                "left_out": line.left_out,
                "rows_used": line.rows_used,
                "alpha_N": line.alpha_N,
                "alpha_D": line.alpha_D,
                **{f"alpha1_{end}": value for end, value in line.alpha1.as_dict().items()},
            }
            for line in self.leave_out
        ]
        return pd.DataFrame(lines)

    def title(self) -> str:
        return f"{self.name}: {self.law.formula}"

    def sparsity_readings(self) -> tuple[SparsityReading, ...]:
        """The sparsity by the coupled law, and by the additive law beside it; found when first asked for."""
        if "readings" not in self.memory:
            from sparselaw.fitting.readings import sparsity_readings

            self.memory["readings"] = sparsity_readings(self)
        found: tuple[SparsityReading, ...] = self.memory["readings"]
        return found

    def sparsity_rows(self) -> list[list[str]]:
        """law, alpha1, alpha2 with their intervals as text."""
        from sparselaw.fitting.readings import rows

        return rows(self.sparsity_readings())

    def sparsity_words(self) -> tuple[str, ...]:
        """What the implied sparsity means."""
        from sparselaw.fitting.readings import words

        return words(self.sparsity_readings())

    def how(self) -> str:
        """How the optimum was reached, in a line."""
        return (
            f"{self.rows_used} rows, {self.objective} {self.value:.7g}, status {self.status}, "
            f"gradient {self.gradient_norm:.1e}, {self.starts_agreeing} of {self.starts_tried} starts agree"
        )

    def _repr_html_(self) -> str:
        dropped = [f"{count} rows dropped: {reason}" for reason, count in self.dropped.items()]
        return html_table(
            self.title(),
            ["quantity", "best [low, high]"],
            [
                *([name, f"{v.best:.4g} {v.ends()}"] for name, v in self.params.items()),
                *([f"alpha1 by the {law} law", alpha1] for law, alpha1, _ in self.sparsity_rows()),
            ],
            [
                f"status: {self.status}",
                self.goodness.words(),
                self.goodness.worst_words(),
                *self.warnings,
                *dropped,
                self.how(),
            ],
        )
