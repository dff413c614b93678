"""Runs the items one after the other, writes what each gives, and builds the report from them."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.paper.item import Context, Quantity, Result
from sparselaw.paper.memory import remember
from sparselaw.paper.registry import NAMES, chosen, item
from sparselaw.report import ReportItem, ReportRow, write_report
from sparselaw.sweeps.executors import WorkerPool, all_cores
from sparselaw.sweeps.run import run_sweep
from sparselaw.sweeps.runs_table import write_table
from sparselaw.sweeps.store import Store
from sparselaw.trials.task import Record, Task

STORE = "runs.sqlite"
PACKAGES = ("sparselaw", "numpy", "scipy", "numba", "pandas", "matplotlib")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was made: the rows of summary.json, and where the report is."""

    items: list[dict[str, Any]]
    seconds: float
    report: Path


def reproduce(
    names: Sequence[str] = (),
    *,
    out: Path,
    quick: bool = False,
    workers: int | None = None,
    progress: bool = False,
    say: Callable[[str], None] | None = None,
) -> Summary:
    """Make the named items (all by default) in the folder ``out``. What its store has is not run again."""
    wanted = chosen(names)
    folder = _folder(out)
    started = time.perf_counter()
    # One BLAS thread here as in the workers, so that they do not get in each other's way.
    with Store(folder / STORE) as store, WorkerPool(workers or all_cores()) as pool, threadpool_limits(1):
        context = Context(
            quick=quick,
            run=partial(_run, store=store, pool=pool, progress=progress),
            remember=partial(remember, folder / "kept"),
            map=pool.map,
        )
        try:
            for place, name in enumerate(wanted, start=1):
                if say is not None:
                    say(f"{name} ({place} of {len(wanted)}): {item(name).title}")
                begun = time.perf_counter()
                result = item(name).make(context)
                _write_item(folder, name, result, quick, time.perf_counter() - begun)
        except BaseException:  # Ctrl-C above all: do not wait for what the workers are at
            pool.abort()
            raise
    return _write_summary(folder, time.perf_counter() - started)


def _run(tasks: Sequence[Task], store: Store, pool: WorkerPool, progress: bool) -> list[Record]:
    """The records of trials that an item needs; one that failed before is tried again."""
    records = run_sweep(tasks, store=store, executor=pool, progress=progress, retry=True)
    failed = [record.reason for record in records if record.status == "failed"]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(records)} trials failed: {failed[0]}")
    return records


def _folder(out: Path) -> Path:
    try:
        (out / "kept").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "out", out, f"cannot be made ({error.strerror})", "name a folder you can write"
        ) from None
    return out


def _write_item(folder: Path, name: str, result: Result, quick: bool, seconds: float) -> None:
    from matplotlib.figure import Figure

    from sparselaw.plotting import style

    with style():
        figure = Figure(figsize=result.size, layout="constrained")
        result.draw(figure)
        if quick:
            figure.suptitle(
                "quick run: fewer seeds and smaller sizes than the paper",
                fontsize="small",
                x=0.99,
                ha="right",
            )
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
    write_table(folder / f"{name}.csv", list(result.rows), always=())
    made = {
        "title": item(name).title,
        "caption": result.caption,
        "notes": list(result.notes),
        "quick": quick,
        "seconds": seconds,
        "quantities": [_quantity(q) for q in result.quantities],
    }
    (folder / "kept" / f"{name}.json").write_text(json.dumps(made, indent=1, allow_nan=False), "utf-8")


def _quantity(q: Quantity) -> dict[str, Any]:
    verdict = q.verdict
    measured = q.measured if q.measured is not None and _finite(q.measured) else None
    row: dict[str, Any] = {
        "quantity": q.quantity,
        "paper": None if q.printed is None else q.printed.value,
        "paper_is_bound": q.printed is not None and q.printed.bound,
        "measured": None if measured is None else asdict(measured),
        "interval": q.interval,
        "theory": q.theory,
        "verdict": verdict.word,
        "reason": verdict.reason,
        "why": q.why,
    }
    if measured is None:
        row["measured_reason"] = "no finite interval came of it"
    if q.printed is None:
        row["paper_reason"] = "the paper prints no number for this"
    if q.theory is None:
        row["theory_reason"] = "no closed form"
    return row


def _finite(interval: Interval) -> bool:
    return all(math.isfinite(value) for value in (interval.low, interval.best, interval.high))


def _write_summary(folder: Path, seconds: float) -> Summary:
    """summary.json and report.html from every item that the folder holds."""
    made = {
        name: json.loads(path.read_text("utf-8"))
        for name in NAMES
        if (path := folder / "kept" / f"{name}.json").exists()
    }
    rows = [{"name": name, **row} for name, content in made.items() for row in content["quantities"]]
    summary = {"items": rows, "seconds": seconds}
    (folder / "summary.json").write_text(json.dumps(summary, indent=2, allow_nan=False) + "\n", "utf-8")
    report = folder / "report.html"
    pages = [_report_item(folder, name, content) for name, content in made.items()]
    write_report(report, pages, _facts(made, seconds))
    return Summary(items=rows, seconds=seconds, report=report)


def _report_item(folder: Path, name: str, content: dict[str, Any]) -> ReportItem:
    return ReportItem(
        name=name,
        title=content["title"],
        caption=content["caption"],
        rows=[_report_row(row) for row in content["quantities"]],
        notes=content["notes"],
        picture=folder / f"{name}.svg",
        table=f"{name}.csv",
        command=f"sparselaw reproduce {name} --out {folder.name}{' --quick' if content['quick'] else ''}",
        seconds=content["seconds"],
        quick=content["quick"],
    )


def _report_row(row: dict[str, Any]) -> ReportRow:
    paper = "-" if row["paper"] is None else f"{'< ' if row['paper_is_bound'] else ''}{row['paper']:.4g}"
    return ReportRow(
        quantity=row["quantity"],
        paper=paper,
        measured=_measured(row),
        theory="-" if row["theory"] is None else f"{row['theory']:.4g}",
        verdict=row["verdict"],
        reason=row["reason"],
        why=row["why"],
    )


def _measured(row: dict[str, Any]) -> str:
    if row["measured"] is None:
        return "-"
    kind = "" if row["interval"] == "95 %" else f" ({row['interval']})"
    return f"{Interval(**row['measured'])}{kind}"


def _facts(made: dict[str, Any], seconds: float) -> dict[str, str]:
    return {
        "time of this run": f"{seconds:.0f} s",
        "time of all items when made": f"{sum(content['seconds'] for content in made.values()):.0f} s",
        "seeds": "0, 1, 2, ...: the same command gives the same numbers",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
