"""The same fit for every value of a column, each on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.fitting.fit import fit
from sparselaw.fitting.fitted_law import FittedLaw
from sparselaw.fitting.rows import Source, as_table
from sparselaw.fitting.select import select, split
from sparselaw.plain import html_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class FitsBy:
    """A fit for each value of ``column``; ``refused`` says why a value has none."""

    column: str
    fits: Mapping[Any, FittedLaw]
    refused: Mapping[Any, str]

    def as_dict(self) -> dict[str, Any]:
        rows: list[dict[str, Any]] = [{"by_value": _plain(v), **f.as_dict()} for v, f in self.fits.items()]
        return {
            "by": self.column,
            "fits": rows,
            "refused": [{"by_value": _plain(v), "reason": why} for v, why in self.refused.items()],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each value: rows, status, residuals and the best parameters."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    self.column: value,
                    "rows": found.rows_used,
                    "status": found.status,
                    "sd": found.goodness.sd,
                    **{name: v.best for name, v in found.quantities().items()},
                }
                for value, found in self.fits.items()
            ]
        )

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        notes = [f"{self.column} = {value}: {why}" for value, why in self.refused.items()]
        rows = [[_shown(cell) for cell in row] for row in frame.itertuples(index=False)]
        return html_table(f"One fit for each {self.column}", list(frame.columns), rows, notes)


def fit_by(
    runs: Source,
    by: str,
    *,
    where: str | tuple[str, ...] = (),
    **settings: Any,
) -> FitsBy:
    """``fit`` with the same settings on the rows of every value of the column ``by``."""
    table = select(as_table(runs), (where,) if isinstance(where, str) else where)
    fits: dict[Any, FittedLaw] = {}
    refused: dict[Any, str] = {}
    for value, rows in split(table, by):
        try:
            fits[value] = fit(rows, **settings)
        except InputError as error:
            refused[value] = str(error)
    if not fits:
        why = next(iter(refused.values()), "it is empty")
        raise InputError("by", by, f"no value of it has rows enough ({why})", "choose another column")
    return FitsBy(column=by, fits=fits, refused=refused)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _shown(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
