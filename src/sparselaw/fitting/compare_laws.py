"""Several fits side by side: laws on the same runs, or one law on the runs of every value of a column.

Laws are judged by how well they predict runs they have not seen, with AIC and BIC beside it. Out of sample:
fitted to the cheapest 50 and 70 % of the runs by compute, a law predicts the more expensive ones; the error
is the root mean square of the log error in per cent, averaged over both. AIC and BIC take the noise in log
loss as Gaussian for least squares and as Laplace otherwise, with its scale a parameter:

    -2 log likelihood = n (log(2 pi s^2) + 1),  s^2 the mean square residual;
                      = 2 n (log(2 b) + 1),     b the mean absolute residual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.errors import InputError, warn_of
from sparselaw.fitting.clean_runs import COUNTS, Source, as_table
from sparselaw.fitting.design import prepare
from sparselaw.fitting.fit import fit
from sparselaw.fitting.fitted_law import FittedLaw
from sparselaw.fitting.minimise import global_minimum, parse_objective
from sparselaw.fitting.tables import select, split
from sparselaw.laws import LAWS, law_named
from sparselaw.records import cells_of, frame, html_table, put, to_dict

if TYPE_CHECKING:
    import pandas as pd

CUTOFFS = (0.5, 0.7)
FIRST = "coupled"  # the best point forecaster of all on real runs: shown first
TOO_FEW = "too few cheap runs to fit it to"
EXACT = "the law fits exactly"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLaw:
    """One line: a fitted law, its errors on later runs in per cent (nan: too few cheaper ones), AIC, BIC."""

    fitted: FittedLaw
    errors: Mapping[float, float]  # by the part of the runs it was fitted to
    aic: float
    bic: float

    @property
    def out_of_sample_error(self) -> float:
        """In per cent, averaged over the cutoffs."""
        return float(np.mean(list(self.errors.values())))

    def as_dict(self) -> dict[str, Any]:
        whole = self.fitted.as_dict()
        kept = ("law", "status", "params", "residuals", "rows_used", "sparsity", "sparsity_reason")
        found = {key: whole[key] for key in kept if key in whole}
        why = {"out_of_sample_error": TOO_FEW, "aic": EXACT, "bic": EXACT}
        found |= to_dict(self, *why, **why)
        found["out_of_sample"] = [{"cutoff": cutoff} for cutoff in self.errors]
        for line, error in zip(found["out_of_sample"], self.errors.values(), strict=True):
            put(line, "error", error, TOO_FEW)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The coupled law first, then the others by their error on later runs; ``refused`` have no fit."""

    laws: tuple[ComparedLaw, ...]
    refused: Mapping[str, str]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was said of the table, once, and of each law."""
        said: dict[str, list[str]] = {}
        for line in self.laws:
            for words in line.fitted.warnings:
                said.setdefault(words, []).append(line.fitted.name)
        every = len(self.laws)
        return tuple(w if len(names) == every else f"{', '.join(names)}: {w}" for w, names in said.items())

    def as_dict(self) -> dict[str, Any]:
        return {
            "laws": [line.as_dict() for line in self.laws],
            "refused": [{"law": name, "reason": why} for name, why in self.refused.items()],
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each law: errors in per cent, AIC, BIC, residuals, parameters, status."""
        return frame(
            {
                "law": line.fitted.name,
                "out_of_sample_error": line.out_of_sample_error,
                **{f"error_{cutoff:g}": error for cutoff, error in line.errors.items()},
                "aic": line.aic,
                "bic": line.bic,
                "sd": line.fitted.goodness.sd,
                "parameters": len(line.fitted.params),
                "status": line.fitted.status,
            }
            for line in self.laws
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows of ``to_frame`` as a reader is shown them."""
        shown = self.to_frame()
        errors = {f"error_{cutoff:g}": f"fitted to {100 * cutoff:g} %" for cutoff in CUTOFFS}
        for name in ("out_of_sample_error", "sd", *errors):
            shown[name] = [f"{v:.3g} %" if v == v else "-" for v in shown[name]]
        words = {
            "out_of_sample_error": "error on later runs",
            "sd": "residuals, SD",
            "aic": "AIC",
            "bic": "BIC",
        }
        return cells_of(shown.rename(columns=errors | words))

    def _repr_html_(self) -> str:
        notes = [*self.warnings, *(f"{name}: {why}" for name, why in self.refused.items())]
        return html_table("Laws side by side", *self.table(), notes)


def compare_laws(
    runs: Source,
    laws: Sequence[str] | None = None,
    objective: str = "huber",
    *,
    delta: float | None = None,
    bootstrap: int = 0,
    **settings: Any,
) -> Comparison:
    """Fits every law of N and D (and of what else the table has) to the same runs.

    Parameters
    ----------
    runs
        A table of runs as ``fit`` takes it.
    laws
        Names of laws; all of them unless given.
    objective, delta, bootstrap
        As of ``fit``; no draws unless asked for.
    **settings
        Any other of ``fit``: which rows, which columns, the seed.

    Returns
    -------
    Comparison
        ``to_frame()`` is a table of it.

    Raises
    ------
    InputError
        Where no law can be fitted.

    Examples
    --------
    >>> table = {"N": [1e7, 1e8, 1e9] * 4, "D": [1e9] * 3 + [1e10] * 3 + [1e11] * 3 + [3e11] * 3}
    >>> table["loss"] = [1.8 + 9e2 * n**-0.3 + 2e3 * d**-0.35 for n, d in zip(table["N"], table["D"])]
    >>> compare_laws(table, ["chinchilla", "two-power"]).laws[0].fitted.name
    'chinchilla'
    """
    if laws is None:
        laws = [name for name, law in LAWS.items() if law.compared and not law.has_one_size()]
    chosen = parse_objective(objective, delta)
    lines: list[ComparedLaw] = []
    refused: dict[str, str] = {}
    first: InputError | None = None
    for name in laws:
        try:
            found = fit(runs, name, objective, delta=delta, bootstrap=bootstrap, warn=False, **settings)
        except InputError as error:
            refused[law_named(name).name] = str(error)
            first = first or error
            continue
        errors = {cutoff: error_on_later(found, cutoff, chosen) for cutoff in CUTOFFS}
        aic, bic = information(found)
        lines.append(ComparedLaw(fitted=found, errors=errors, aic=aic, bic=bic))
    if not lines:
        raise first or InputError("laws", "", "names no law", "leave it out for all of them")
    lines.sort(
        key=lambda line: (line.fitted.name != FIRST, np.nan_to_num(line.out_of_sample_error, nan=np.inf))
    )
    compared = Comparison(laws=tuple(lines), refused=refused)
    warn_of(compared.warnings)
    return compared


def errors_by_count(source: Source, law: str = "chinchilla", **rows: Any) -> dict[str, float]:
    """The error on later runs, in per cent, with N as given and without embeddings.

    Parameters
    ----------
    source
        A table of runs with the width and the depth of the models.
    law
        The name of the law.
    **rows
        Which rows and columns are used, as ``fit`` takes it.

    Returns
    -------
    dict
        By ``as-given`` and ``non-embedding``, each fitted to the cheapest 50 and 70 % of the runs.

    Raises
    ------
    InputError
        Where the table does not have what the count needs.
    """
    objective = parse_objective("huber")
    found = {}
    for count in COUNTS:
        fitted = fit(source, law=law, bootstrap=0, warn=False, **rows | {"count": count})
        found[count] = float(np.mean([error_on_later(fitted, cutoff, objective) for cutoff in CUTOFFS]))
    return found


def information(found: FittedLaw) -> tuple[float, float]:
    """AIC and BIC."""
    r = found.residuals / found.runs.scale
    n, k = r.size, len(found.params) + 1
    with np.errstate(divide="ignore"):
        if found.objective == "least-squares":
            deviance = n * (np.log(2.0 * np.pi * np.mean(r**2)) + 1.0)
        else:
            deviance = 2.0 * n * (np.log(2.0 * np.mean(np.abs(r))) + 1.0)
    return float(deviance + 2.0 * k), float(deviance + k * np.log(n))


def error_on_later(found: FittedLaw, cutoff: float, objective: Any) -> float:
    """Of the more expensive runs by compute, in per cent; runs of the same compute stay in their order."""
    runs, kind = found.runs, type(found.law)
    order = np.argsort((np.log(runs.N) + np.log(runs.D)).round(9), kind="stable")
    count = round(cutoff * len(runs))
    known, later = runs.take(np.sort(order[:count])), runs.take(np.sort(order[count:]))
    design = prepare(kind, known)
    if len(known) <= design.free or any(np.ptp(known.sizes[name]) == 0.0 for name in kind.sizes):
        return math.nan
    law = design.law_at(global_minimum(design, objective).theta)
    error = np.log(later.loss) - np.log(law.loss(*(later.sizes[name] for name in kind.sizes)))
    return float(100.0 * np.sqrt(np.mean(error**2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FitsBy:
    """A fit for each value of ``column``; ``refused`` says why a value has none."""

    column: str
    fits: Mapping[Any, FittedLaw]
    refused: Mapping[Any, str]

    def as_dict(self) -> dict[str, Any]:
        return {
            "by": self.column,
            "fits": [{"by_value": value, **found.as_dict()} for value, found in self.fits.items()],
            "refused": [{"by_value": value, "reason": why} for value, why in self.refused.items()],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each value: rows, status, residuals and the best parameters."""
        return frame(
            {
                self.column: value,
                "rows": found.rows_used,
                "status": found.status,
                "sd": found.goodness.sd,
                **{name: v.best for name, v in found.quantities().items()},
            }
            for value, found in self.fits.items()
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows of ``to_frame`` as a reader is shown them, without the sparsity implied."""
        shown = self.to_frame().drop(columns=["alpha1", "alpha2"], errors="ignore")
        shown["sd"] = [f"{v:.3g} %" for v in shown["sd"]]
        return cells_of(shown.rename(columns={"sd": "residuals, SD"}))

    def _repr_html_(self) -> str:
        notes = [f"{self.column} = {value}: {why}" for value, why in self.refused.items()]
        return html_table(f"One fit for each {self.column}", *self.table(), notes)


def fit_by(runs: Source, by: str, *, where: str | tuple[str, ...] = (), **settings: Any) -> FitsBy:
    """``fit`` with the same settings on the rows of every value of the column ``by``."""
    fits: dict[Any, FittedLaw] = {}
    refused: dict[Any, str] = {}
    for value, rows in split(select(as_table(runs), where), by):
        try:
            fits[value] = fit(rows, warn=False, **settings)
        except InputError as error:
            refused[value] = str(error)
    if not fits:
        why = next(iter(refused.values()), "it is empty")
        raise InputError("by", by, f"no value of it has rows enough ({why})", "choose another column")
    for value, found in fits.items():
        warn_of(found.warnings, f"{by} = {value}: ")
    return FitsBy(column=by, fits=fits, refused=refused)
