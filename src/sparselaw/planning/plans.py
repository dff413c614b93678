"""Plans for several budgets side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparselaw.planning.plan_result import Plan
from sparselaw.records import html_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """One plan for each budget, in the order they were asked for."""

    plans: tuple[Plan, ...]

    def as_dict(self) -> dict[str, Any]:
        """The keys of the first plan, and all of them under ``plans``."""
        every = [plan.as_dict() for plan in self.plans]
        return {**every[0], "plans": every}

    def to_frame(self) -> pd.DataFrame:
        """One row for each budget."""
        import pandas as pd

        rows = []
        for plan in self.plans:
            row: dict[str, Any] = {"budget": plan.budget}
            for name in ("N", "D", "loss", "tokens_per_parameter"):
                row |= {f"{name}_{end}": value for end, value in getattr(plan, name).as_dict().items()}
            rows.append(row)
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        rows = [
            [f"{p.budget:g}", f"{p.N.best:.4g}", f"{p.D.best:.4g}", f"{p.loss.best:.4g}"] for p in self.plans
        ]
        notes = dict.fromkeys(w for plan in self.plans for w in plan.warnings)
        return html_table(f"Cost {self.plans[0].cost}", ["budget", "N", "D", "loss"], rows, notes)
