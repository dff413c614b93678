"""Your runs: a table dropped on the page, its law at once, intervals as they come, what follows from it."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.explore import page_fits as fits
from sparselaw.explore.call import Call, View
from sparselaw.explore.chart_data import Chart, axis, line, points
from sparselaw.explore.page_fits import sample_csv
from sparselaw.fitting import FittedLaw, compare_laws, fit
from sparselaw.fitting.clean_runs import as_table, clean_runs
from sparselaw.fitting.columns import find_columns, notes_on_columns
from sparselaw.fitting.tables import Table
from sparselaw.laws import LAWS, law_named
from sparselaw.planning import forecast, next_run, plan_ahead
from sparselaw.records import finite

PREVIEW = 6
DRAWS = (100, 300, 1000)  # every draw has its own stream: fewer are the first of more
LARGER = (10.0, 100.0)  # budgets to forecast and plan for, in budgets of the largest run
ROLES = ("N", "D", "loss", "C")


def read(call: Call) -> Iterator[dict[str, Any]]:
    """The table as it was understood: columns, the first rows, and what must be chosen."""
    content = call.body
    name = fits.file_name(call)
    if call.text("sample"):
        name, content = "sample.csv", sample_csv()
    if not content:
        raise InputError("runs", name, "is empty", "drop a table with N, D and loss")
    key = call.session.uploads.keep(name, content)
    yield {"upload": key, "file_name": name, **_table(call, key, name)}


def columns(call: Call) -> dict[str, Any]:
    """The same again, with the columns that were chosen from the menus."""
    return _table(call, call.text("upload"), fits.file_name(call))


def fitted(call: Call) -> Iterator[dict[str, Any]]:
    """The fit at once, its intervals as draws come in, then laws side by side, forecast and plan."""
    path = call.session.uploads.find(call.text("upload"))
    law = law_named(call.text("law", "chinchilla")).name
    chosen = fits.columns_of(call)
    table = as_table(_named(call, lambda: as_table(path)))
    clean = _named(call, lambda: clean_runs(table, columns=chosen))
    yield {"dropped": dict(clean.dropped), "used": len(clean.runs), "notes": list(clean.notes)}
    found = _named(call, lambda: fit(table, law, columns=chosen, bootstrap=0))
    code = {"shell": fits.fit_shell(call), "python": fits.fit_python(call)}
    fits.keep(call, found)
    yield {
        "fit": _to_dict(found),
        "draws": 0,
        "of": DRAWS[-1],
        "residuals": {"chart": _residuals(found), "code": code},
    }
    for draws in DRAWS:
        if call.stop.is_set():
            return
        found = fit(table, law, columns=chosen, bootstrap=draws)
        fits.keep(call, found)
        yield {"fit": _to_dict(found), "draws": draws, "of": DRAWS[-1]}
    for part in (_ahead, _laws, _sparsity):  # the last takes longest
        if call.stop.is_set():
            return
        yield part(call, found, table, chosen)


def report(call: Call) -> Iterator[dict[str, Any]]:
    """The page that `fit --report` writes."""
    from sparselaw.report import results, write_result

    found, _, _ = fits.fitted_of(call)
    with tempfile.TemporaryDirectory(prefix="sparselaw-report-") as folder:
        file = Path(folder) / "report.html"
        write_result(file, replace(results.fit_page(found), command=fits.fit_shell(call)))
        yield {"html": file.read_text(encoding="utf-8")}


def _table(call: Call, key: str, name: str) -> dict[str, Any]:
    table = _named(call, lambda: as_table(call.session.uploads.find(key)), name)
    answer: dict[str, Any] = {
        "rows": len(table),
        "columns": list(table.names),
        "preview": [[_cell(cells[i]) for cells in table.columns] for i in range(min(PREVIEW, len(table)))],
        "laws": [law for law, kind in LAWS.items() if not kind.has_one_size()],
    }
    chosen = fits.columns_of(call)
    try:
        roles = find_columns(table.names, chosen)
    except InputError as error:
        return answer | {"roles": chosen or {}, "choose": _choices(table), "why": str(error)}
    missing = [role for role in ("loss", "N", "D") if role not in roles]
    if "D" in missing and "C" in roles and "N" in roles:
        missing.remove("D")  # D = C/(6N)
    answer |= {"roles": roles, "notes": notes_on_columns(table.names, roles, chosen)}
    if missing:
        why = f"no column for {' and '.join(missing)}"
        return answer | {"choose": _choices(table), "why": why}
    return answer


def _choices(table: Table) -> dict[str, list[str]]:
    """Every column that may be chosen for a role: those with numbers first."""
    numbers = [n for n, c in zip(table.names, table.columns, strict=True) if c.dtype.kind in "iuf"]
    rest = [name for name in table.names if name not in numbers]
    return {role: [*numbers, *rest] for role in ROLES}


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)[:40]


def _to_dict(found: FittedLaw) -> dict[str, Any]:
    """What the page shows of a fit: its own values without what takes long to find."""
    none = "no draws yet"
    return {
        "law": found.name,
        "formula": found.law.formula,
        "status": found.status,
        "rows_used": found.rows_used,
        "rows_dropped": dict(found.dropped),
        "residuals": found.goodness.as_dict(),
        "words": [found.goodness.words(), found.goodness.worst_words(), *found.warnings],
        "params": {name: value.to_dict(none) for name, value in found.params.items()},
    }


def _residuals(found: FittedLaw) -> Chart:
    """How far each run lies from the law, in per cent, against the compute of the run."""
    runs = found.runs
    percent = 100.0 * np.expm1(found.residuals)
    x = 6.0 * runs.N * runs.D
    ends = [float(x.min()), float(x.max())]
    return {
        "x": axis("compute 6 N D of the run"),
        "y": axis("loss above the law, per cent", log=False),
        "series": [
            points("one run each", x.tolist(), percent.tolist(), colour=0),
            line("the law", ends, [0.0, 0.0], colour=None, dash="dotted"),
        ],
        "marks": [],
        "notes": [found.goodness.worst_words()],
    }


def _ahead(call: Call, found: FittedLaw, table: Table, chosen: dict[str, str] | None) -> dict[str, Any]:
    """The forecast and the plan for budgets beyond the largest run; why not, where there is none."""
    del call, table, chosen
    largest = float((6.0 * found.runs.N * found.runs.D).max())
    budgets = [largest * factor for factor in LARGER]
    answer: dict[str, Any] = {"budgets": budgets}
    try:
        answer["forecast"] = forecast(found, budget=budgets).as_dict()
    except InputError as error:
        answer["forecast_reason"] = str(error)
    try:
        answer["plans"] = [plan_ahead(found, budget).as_dict() for budget in budgets]
    except InputError as error:
        answer["plans_reason"] = str(error)
    ahead = next_run(found)
    answer["next_run"] = None if ahead is None else ahead.words()
    return answer


def _laws(call: Call, found: FittedLaw, table: Table, chosen: dict[str, str] | None) -> dict[str, Any]:
    del call, found
    every = compare_laws(table, columns=chosen)
    rows = [
        {
            "law": one.fitted.name,
            "formula": one.fitted.law.formula,
            "out_of_sample_error": finite(one.out_of_sample_error),
            "sd": one.fitted.goodness.sd,
            "aic": finite(one.aic),
            "bic": finite(one.bic),
            "status": one.fitted.status,
        }
        for one in every.laws
    ]
    return {"laws": rows, "refused": every.as_dict()["refused"]}


def _sparsity(call: Call, found: FittedLaw, table: Table, chosen: dict[str, str] | None) -> dict[str, Any]:
    del call, table, chosen
    return {
        "sparsity": [reading.as_dict() for reading in found.sparsity_readings()],
        "words": list(found.sparsity_words()),
        "why": found.sparsity_reason,
    }


def _named(call: Call, work: Any, name: str = "") -> Any:
    """Refusals speak of the person's file, not of ours."""
    try:
        return work()
    except InputError as error:
        if error.name == "file":
            said = name or fits.file_name(call)
            raise InputError("file", said, error.condition, error.remedy) from None
        raise


VIEW = View(
    values={"runs/columns": columns}, streams={"runs/read": read, "runs/fit": fitted, "runs/report": report}
)
