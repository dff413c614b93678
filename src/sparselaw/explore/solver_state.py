"""What trains the readout, as the page says it: to the end, with a ridge, or stopped early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparselaw.explore.call import Call
from sparselaw.numbers import typed
from sparselaw.solvers import MinNorm, Ridge, Solver, from_options, settings_of

SETTINGS = {
    "min-norm": (),
    "gd": ("steps", "step", "momentum"),
    "sgd": ("passes", "step", "batch", "momentum"),
}
USUAL = {"steps": "100", "passes": "1", "batch": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A solver with the noise of the labels; ``early`` where it is stopped before the end."""

    solver: Solver
    early: bool
    ridge: float
    noise: float

    @classmethod
    def of(cls, call: Call) -> Training:
        name = call.choice("solver", list(SETTINGS))
        ridge = call.not_negative("ridge", 0.0) if name == "min-norm" else 0.0
        solver: Solver = Ridge(ridge=ridge) if ridge > 0.0 else MinNorm()
        if name != "min-norm":
            given = {option: call.text(option, USUAL.get(option, "")) or None for option in SETTINGS[name]}
            solver = from_options(name, given)
        return cls(
            solver=solver, early=name != "min-norm", ridge=ridge, noise=call.not_negative("noise", 0.0)
        )

    def theory(self) -> dict[str, Any]:
        """The arguments of ``prediction``."""
        if self.early:
            return {"solver": self.solver, "noise": self.noise, "form": "quasi-static"}
        return {"ridge": self.ridge, "noise": self.noise}

    def options(self, *, trial: bool = False) -> dict[str, Any]:
        """The options of ``sparselaw predict``, or of ``simulate`` for a trial."""
        found: dict[str, Any] = {}
        if self.early or (trial and self.ridge > 0.0):
            found = {"solver": self.solver.name} | settings_of(self.solver)
        elif self.ridge > 0.0:
            found = {"ridge": self.ridge}
        if self.early and not trial:
            found["form"] = "quasi-static"
        return found | {"noise": self.noise or None}

    def python(self, *, trial: bool = False) -> str:
        """The same as further arguments in Python."""
        words = []
        if self.early or (trial and self.ridge > 0.0):
            words.append(f"solver=sl.{self.solver!r}")
        elif self.ridge > 0.0:
            words.append(f"ridge={typed(self.ridge)}")
        if self.noise:
            words.append(f"noise={typed(self.noise)}")
        if self.early and not trial:
            words.append('form="quasi-static"')
        return "".join(f", {word}" for word in words)
