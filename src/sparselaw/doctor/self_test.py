"""A few numbers from every room, beside the values that they had when the package was made."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

TOLERANCE = 1e-6  # relative: other processors and BLAS libraries round otherwise, and no more than that


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One number of the self-test: what came out, what should have; a problem in words where none came."""

    name: str
    expected: float
    found: float
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem and math.isclose(self.found, self.expected, rel_tol=TOLERANCE)

    @property
    def outcome(self) -> str:
        if self.passed:
            return "as stored"
        return self.problem or f"{self.found:.9g} where {self.expected:.9g} is stored"

    def as_dict(self) -> dict[str, object]:
        found = self.found if math.isfinite(self.found) else None
        return {"name": self.name, "expected": self.expected, "found": found, "passed": self.passed,
                "outcome": self.outcome}  # fmt: skip


def checks() -> Iterator[Check]:
    """The self-test, one check after the other; a crash is an outcome too."""
    for name, expected in stored().items():
        try:
            yield Check(name=name, expected=expected, found=float(CHECKS[name]()))
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
            yield Check(name=name, expected=expected, found=math.nan, problem=problem)


@cache
def stored() -> dict[str, float]:
    """The values that came with the package."""
    values: dict[str, float] = json.loads(
        files("sparselaw.doctor").joinpath("values.json").read_text(encoding="utf-8")
    )
    return values


def _model() -> Any:
    import sparselaw as sl

    return sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def _surface() -> float:
    import sparselaw as sl

    return sl.predict(_model(), N=256, D=50_000, surface="leading").loss


def _simulated(**settings: Any) -> float:
    import sparselaw as sl

    with tempfile.TemporaryDirectory() as folder:
        runs = sl.simulate(_model(), seeds=2, store=Path(folder) / "runs.sqlite", **settings)
    return float(runs["loss"].mean())


def _fitted() -> float:
    import sparselaw as sl

    sizes = [2.0**k for k in range(4, 12)]
    rows = [(N, D, 1.5 + 40.0 * N**-0.4 + 300.0 * D**-0.5) for N in sizes for D in (1e3, 1e4, 1e5)]
    names, columns = ("N", "D", "loss"), zip(*rows, strict=True)
    table = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return sl.fit(table, bootstrap=0).params["E"].best


def _planned() -> float:
    import sparselaw as sl

    law = sl.ChinchillaLaw(E=1.7, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
    return sl.plan(law, budget=1e21, cost="6nd").N.best


def _diverging() -> float:
    import sparselaw as sl

    spiky = sl.SparseInputs(alpha1=1.5, alpha2=-2.0)
    return sl.failure_probability(spiky, D=[1000], threshold=8.0, method="exact-spike").points[0].spike


CHECKS: dict[str, Callable[[], float]] = {
    "loss surface": _surface,
    "simulated loss, linear features": lambda: _simulated(N=32, D=1000),
    "simulated loss, ReLU features": lambda: _simulated(N=16, D=200, features="relu"),
    "simulated loss, two workers": lambda: _simulated(N=[16, 24], D=400, workers=2),
    "fitted floor": _fitted,
    "planned size": _planned,
    "failure by a spike": _diverging,
}
