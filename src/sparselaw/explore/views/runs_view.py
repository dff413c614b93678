"""Your runs: a table dropped on the page; picture and law at once, intervals as they come, what follows."""

from __future__ import annotations

import functools
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, code_of, shell, under_its_name
from sparselaw.explore.chart_data import Chart, axis, chart, line, mark, points
from sparselaw.fitting import FittedLaw, compare_laws, fit
from sparselaw.fitting.clean_runs import as_table, clean_runs
from sparselaw.fitting.tables import find_columns, is_numbers, notes_on_columns
from sparselaw.laws import LAWS, ChinchillaLaw, law_named
from sparselaw.planning import Source, as_source, forecast, frontier_curve, plan, valley_curve
from sparselaw.planning.approaches import budgets_of
from sparselaw.plotting.style import units_of

PREVIEW = 6
DRAWS = (100, 300, 1000)  # every draw has its own stream: fewer are the first of more
LARGER = (10.0, 100.0)  # budgets to forecast and plan for, in budgets of the largest run
ALONG = 24  # budgets along a band
WIDER = 3.0  # how far a valley goes beyond the sizes of its runs
MOST_VALLEYS = 9
ROLES = ("N", "D", "loss", "C")
COMPUTE, SIZES = "compute 6 N D (FLOP)", "parameters N"
Columns = tuple[tuple[str, str], ...]  # what was chosen from the menus


def read(call: Call) -> Iterator[dict[str, Any]]:
    """The table as it was understood: columns, the first rows, and what must be chosen."""
    content, name = b"", file_name(call)
    if call.text("sample"):
        name, law, seed = SAMPLES[call.choice("sample", list(SAMPLES))]
        content = sample_csv(law, seed)
    key = call.dropped("runs", name, "drop a table with N, D and loss", content)
    yield {"upload": key, "file_name": name, **_table(call, key, name)}


def columns(call: Call) -> dict[str, Any]:
    """The same again, with the columns that were chosen from the menus."""
    return _table(call, call.text("upload"), file_name(call))


def fitted(call: Call) -> Iterator[dict[str, Any]]:
    """The fit and its picture at once, intervals as draws come in, then forecast and plan, laws, sparsity."""
    path, law = call.upload(), call.text("law", "chinchilla")
    with under_its_name(path, file_name(call)):
        clean = clean_runs(path, columns=columns_of(call))
    yield {"dropped": dict(clean.dropped), "used": len(clean.runs), "notes": list(clean.notes)}
    found = fit_of(call)
    code = code_of(_fit_shell(call), f'law = sl.fit({table_python(call)}, law="{law}")')
    charts = {"picture": _picture(found), "residuals": _residuals(found)}
    if (valleys := isoflop_chart(found)) is not None:
        charts["valleys"] = valleys
    yield _with_draws(found, 0) | {"charts": charts, "code": code}
    follows: list[Callable[[], dict[str, Any]]] = [
        lambda: _ahead(call, found),
        *(functools.partial(lambda n: _with_draws(fit_of(call, n), n), draws) for draws in DRAWS),
        lambda: _laws(call),
        lambda: _sparsity(call),
    ]
    for part in follows:
        if call.stop.is_set():
            return
        yield part()


def report(call: Call) -> Iterator[dict[str, Any]]:
    """The page that `fit --report` writes."""
    from sparselaw.report import results, write_result

    found = fit_of(call, DRAWS[-1])
    with tempfile.TemporaryDirectory(prefix="sparselaw-report-") as folder:
        file = Path(folder) / "report.html"
        write_result(file, replace(results.fit_page(found), command=_fit_shell(call)))
        yield {"html": file.read_text(encoding="utf-8")}


# The session has the file of a table; the laws and forecasts of the last few are remembered.


@functools.lru_cache(maxsize=16)
def _fit(path: Path, law: str, chosen: Columns, draws: int) -> FittedLaw:
    return fit(path, law, columns=dict(chosen) or None, bootstrap=draws)


def fit_of(call: Call, draws: int = 0) -> FittedLaw:
    """The law of the table that the call means, with so many draws for its intervals."""
    law, path = law_named(call.text("law", "chinchilla")).name, call.upload()
    with under_its_name(path, file_name(call)):
        return _fit(path, law, _chosen(call), draws)


@functools.lru_cache(maxsize=8)
def _source(path: Path, chosen: Columns) -> Source:
    return as_source(path, columns=dict(chosen) or None)


def source_of(call: Call) -> Source:
    """What `sl.plan` makes of the table that the call means: by the forecast of its runs."""
    path = call.upload()
    with under_its_name(path, file_name(call)):
        return _source(path, _chosen(call))


def columns_of(call: Call) -> dict[str, str] | None:
    """Columns that the person chose from the menus: col_N, col_D, ..."""
    return dict(_chosen(call)) or None


def _chosen(call: Call) -> Columns:
    return tuple((role, call.text(f"col_{role}")) for role in ROLES if call.text(f"col_{role}"))


def file_name(call: Call) -> str:
    return call.file_name("runs.csv")


def table_options(call: Call) -> str:
    """The rest of a command: which columns, and the file."""
    chosen = ",".join(f"{role}={name}" for role, name in _chosen(call))
    return f"{f'--columns {shlex.quote(chosen)} ' if chosen else ''}{shlex.quote(file_name(call))}"


def table_python(call: Call) -> str:
    """The first arguments in Python: the file, and which columns."""
    chosen = columns_of(call)
    return repr(file_name(call)) + (f", columns={chosen!r}" if chosen else "")


def _fit_shell(call: Call) -> str:
    return f"{shell('fit', law=call.text('law', 'chinchilla'))} {table_options(call)}"


def _table(call: Call, key: str, name: str) -> dict[str, Any]:
    path, chosen = call.session.uploads.find(key), columns_of(call)
    with under_its_name(path, name):
        table = as_table(path)
    shown = table.head(PREVIEW).astype(object).where(table.head(PREVIEW).notna(), "")
    numbers_first = sorted(table.items(), key=lambda column: not is_numbers(column[1]))
    answer: dict[str, Any] = {
        "rows": len(table),
        "columns": list(table),
        "preview": [
            [f"{v:.6g}" if isinstance(v, float) else str(v)[:40] for v in row] for row in shown.values
        ],
        "laws": [law for law, kind in LAWS.items() if not kind.has_one_size()],
    }
    choose = {"choose": {role: [str(name) for name, _ in numbers_first] for role in ROLES}}
    try:
        roles = find_columns(table, chosen)
    except InputError as error:
        return answer | choose | {"roles": chosen or {}, "why": str(error)}
    answer |= {"roles": roles, "notes": notes_on_columns(table, roles, chosen)}
    missing = [role for role in ("loss", "N", "D") if role not in roles]
    if "D" in missing and "C" in roles and "N" in roles:
        missing.remove("D")  # D = C/(6N)
    return answer | (choose | {"why": f"no column for {' and '.join(missing)}"} if missing else {})


def _with_draws(found: FittedLaw, draws: int) -> dict[str, Any]:
    """What the page shows of a fit: its own values without what takes long to find."""
    shown = {
        "law": found.name,
        "formula": found.law.formula,
        "status": found.status,
        "rows_used": found.rows_used,
        "rows_dropped": dict(found.dropped),
        "residuals": found.goodness.as_dict(),
        "words": [found.goodness.words(), found.goodness.worst_words(), *found.warnings],
        "params": {name: value.to_dict("no draws yet") for name, value in found.params.items()},
    }
    return {"fit": shown, "draws": draws, "of": DRAWS[-1]}


def spent_by(found: FittedLaw) -> np.ndarray:
    """(runs,): the compute of every run, by 6 N D."""
    return np.asarray(6.0 * found.runs.N * found.runs.D)


def _picture(found: FittedLaw, ahead: Sequence[dict[str, Any]] = (), notes: Sequence[str] = ()) -> Chart:
    """Every run against its compute, and the law's best at each budget; ``ahead`` is the forecast's band."""
    spent = spent_by(found)
    series = list(ahead)
    if found.law.sizes == ("N", "D"):
        budgets = np.geomspace(spent.min(), LARGER[-1] * spent.max(), ALONG)
        best, label = frontier_curve(found, budgets, "6nd").loss, f"the {found.name} law, best N and D"
        series.append(line(label, budgets.tolist(), best.tolist(), colour=2, dash="dashed"))
    series.append(points("one run each", spent.tolist(), found.runs.loss.tolist(), colour=0))
    marks = [mark(float(spent.max()), "the most expensive run")] if ahead else []
    return chart(
        axis(COMPUTE), axis(units_of(found.runs.D, found.runs.loss)[1]), series, marks=marks, notes=notes
    )


def isoflop_chart(found: FittedLaw, further: Sequence[dict[str, Any]] = ()) -> Chart | None:
    """Loss against N at every budget of the table, runs and law; None where there are no budgets.

    With ``further`` series it is drawn in any case: the law then at the smallest, middle and largest compute.
    """
    runs, spent = found.runs, spent_by(found)
    if found.law.sizes != ("N", "D"):
        return None
    index = budgets_of(spent, runs.N)
    groups = [np.flatnonzero(index == i) for i in range(int(index.max()) + 1)][-MOST_VALLEYS:]
    series = []
    for colour, rows in enumerate(groups):
        budget = float(np.exp(np.mean(np.log(spent[rows]))))
        series.append(_valley_line(found, budget, runs.N[rows], colour))
        series.append(points("", runs.N[rows].tolist(), runs.loss[rows].tolist(), colour=colour))
    if not groups:
        if not further:
            return None
        near = [np.flatnonzero(np.abs(np.log(spent / C)) < 1.5) for C in np.quantile(spent, [0.1, 0.5, 0.9])]
        budgets = [float(np.exp(np.mean(np.log(spent[rows])))) for rows in near]
        series = [_valley_line(found, budgets[i], runs.N[near[i]], i) for i in range(len(near))]
        series.append(points("one run each", runs.N.tolist(), runs.loss.tolist(), colour=None))
    return chart(axis(SIZES, sizes=True), axis(units_of(runs.D, runs.loss)[1]), [*series, *further])


def _valley_line(found: FittedLaw, budget: float, N: np.ndarray, colour: int) -> dict[str, Any]:
    between = float(N.min()) / WIDER, float(N.max()) * WIDER
    along = valley_curve(found, budget, "6nd", between=between)
    mantissa, power = f"{budget:.1e}".split("e")
    return line(f"C = {mantissa}×10^{{{int(power)}}}", along.N.tolist(), along.loss.tolist(), colour=colour)


def _residuals(found: FittedLaw) -> Chart:
    """How far each run lies from the law, in per cent, against the compute of the run."""
    percent, x = 100.0 * np.expm1(found.residuals), spent_by(found)
    law = line("the law", [float(x.min()), float(x.max())], [0.0, 0.0], colour=None, dash="dotted")
    every = points("one run each", x.tolist(), percent.tolist(), colour=0)
    words = [found.goodness.worst_words()]
    return chart(axis(COMPUTE), axis("loss above the law, per cent", log=False), [every, law], notes=words)


def _ahead(call: Call, found: FittedLaw) -> dict[str, Any]:
    """The forecast and the plan for budgets beyond the largest run; why not, where there is none."""
    spent = spent_by(found)
    budgets = [float(spent.max()) * factor for factor in LARGER]
    along = np.geomspace(spent.min(), budgets[-1], ALONG).tolist()
    answer: dict[str, Any] = {"budgets": budgets}
    try:
        ahead = forecast(found, budget=[*budgets, *along])
        answer["forecast"] = replace(ahead, points=ahead.points[: len(budgets)]).as_dict()
        answer["charts"] = {"picture": _picture(found, [_band(along, ahead.points[len(budgets) :])])}
    except InputError as error:
        answer["forecast_reason"] = str(error)
        answer["charts"] = {"picture": _picture(found, notes=[f"no forecast: {error}"])}
    try:
        planned = source_of(call)
        answer["plans"] = [plan(planned, budget).as_dict() for budget in budgets]
    except InputError as error:
        answer["plans_reason"] = str(error)
    return answer


def _band(budgets: list[float], ahead: Sequence[Any]) -> dict[str, Any]:
    low, best, high = zip(*(point.loss for point in ahead), strict=True)
    return line("forecast at the best N and D, 95 %", budgets, best, colour=1, low=low, high=high)


def _laws(call: Call) -> dict[str, Any]:
    every = compare_laws(as_table(call.upload()), columns=columns_of(call))
    shown = every.to_frame().to_dict("records")  # the page makes null of what is no number
    rows = [row | {"formula": one.fitted.law.formula} for row, one in zip(shown, every.laws, strict=True)]
    return {"laws": rows, "refused": every.as_dict()["refused"]}


def _sparsity(call: Call) -> dict[str, Any]:
    found = fit_of(call, DRAWS[-1])
    readings = [reading.as_dict() for reading in found.sparsity_readings()]
    return {"sparsity": readings, "words": list(found.sparsity_words()), "why": found.sparsity_reason}


LAW = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)

SAMPLES = {"1": ("sample.csv", LAW, 7), "2": ("other.csv", replace(LAW, A=430.0, B=1900.0), 8)}


def sample_csv(law: ChinchillaLaw = LAW, seed: int = 7) -> bytes:
    """params, tokens and val_loss of 48 runs, made up."""
    rng = np.random.default_rng(seed)
    lines = ["params,tokens,val_loss"]
    for N in np.geomspace(1e7, 3e9, 8):
        for ratio in (3.0, 10.0, 20.0, 40.0, 80.0, 160.0):
            D = ratio * N
            loss = law.loss(N, D) * np.exp(0.006 * rng.standard_normal())
            lines.append(f"{N:.4g},{D:.4g},{loss:.5f}")
    lines.append("1e8,2e9,nan")
    return ("\n".join(lines) + "\n").encode()
