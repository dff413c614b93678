"""Runs the items one after the other, keeps what each gives, and builds summary and report from that."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from threadpoolctl import threadpool_limits

from sparselaw.errors import InputError, check_size
from sparselaw.experiments.paper.claims import counted, judged, mathml, shown
from sparselaw.experiments.paper.item import NAMES, Context, Item, Quantity, Result, Row, chosen, item
from sparselaw.files import write_atomically
from sparselaw.interrupts import no_more_ctrl_c
from sparselaw.interval import Interval
from sparselaw.records import html_table
from sparselaw.report import write_html
from sparselaw.sweeps.executors import WorkerPool, all_cores
from sparselaw.sweeps.runs_table import write_table
from sparselaw.sweeps.store import Store, open_store
from sparselaw.sweeps.sweep import run_sweep
from sparselaw.trials.task import ENGINE_VERSION, Record, Task

if TYPE_CHECKING:
    import pandas as pd

STORE, KEPT = "runs.sqlite", "kept"


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
    count = all_cores() if workers is None else check_size("workers", workers)
    try:
        (out / KEPT).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        condition = f"cannot be made ({error.strerror})"
        raise InputError("out", out, condition, "name a folder you can write") from None
    started = time.perf_counter()
    # One BLAS thread here as in the workers, so that they do not get in each other's way.
    with (
        _no_other_store(),
        open_store(out / STORE) as store,
        WorkerPool(count) as pool,
        threadpool_limits(1),
    ):
        context = Context(
            quick=quick,
            run=partial(_run, store=store, pool=pool, progress=progress),
            map=pool.map,
            remember=partial(remember, out / KEPT, pool.map),
        )
        try:
            for place, name in enumerate(wanted, start=1):
                if say is not None:
                    say(f"{name} ({place} of {len(wanted)}): {item(name).title}")
                begun, used = time.perf_counter(), processor_seconds()
                result = item(name).make(context)
                spent = (time.perf_counter() - begun, processor_seconds() - used)
                save_item(out, item(name), result, quick, spent)
        except BaseException:  # Ctrl-C above all: do not wait for what the workers are at
            with no_more_ctrl_c():
                pool.abort()
            raise
    return write_summary(out, time.perf_counter() - started)


@contextmanager
def _no_other_store() -> Iterator[None]:
    """Refusals of the store name --out as the remedy, since the store is a file of that folder."""
    try:
        yield
    except InputError as error:
        remedy = re.sub("name .*--store", "name another folder with --out", error.remedy)
        raise InputError(error.name, error.value, error.condition, remedy) from None


def _run(tasks: Sequence[Task], store: Store, pool: WorkerPool, progress: bool) -> list[Record]:
    """The records of trials that an item needs; one that failed before is tried again."""
    records = run_sweep(tasks, store=store, executor=pool, progress=progress, retry=True)
    failed = [record.reason for record in records if record.status == "failed"]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(records)} trials failed: {failed[0]}")
    return records


def processor_seconds() -> float:
    """Processor time so far, that of living workers included; a busy machine does not change it."""
    here = psutil.Process()
    total = 0.0
    for process in (here, *here.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:  # ended between the two calls
            continue
        total += times.user + times.system
    return total


# What is kept of finished items: pictures, tables, and the rest in a file each.

# The row of an item that has no number, so that the summary lists it too.
PICTURE = Quantity("a picture, no number to compare", None).as_dict()


def save_item(folder: Path, item: Item, result: Result, quick: bool, spent: tuple[float, float]) -> None:
    """Write picture and table, and then the file that says so. ``spent``: seconds by clock and processor."""
    from matplotlib.figure import Figure

    from sparselaw.plotting import style

    with style():
        figure = Figure(figsize=result.size, layout="constrained")
        result.draw(figure)
        if quick:
            words = "quick run: fewer seeds and smaller sizes than the paper"
            figure.supxlabel(words, fontsize="small", x=0.99, ha="right")
        for ending, dated in (("svg", "Date"), ("png", "Software")):
            with write_atomically(folder / f"{item.name}.{ending}") as file:
                figure.savefig(file, format=ending, metadata={dated: None})
    write_table(folder / f"{item.name}.csv", list(result.rows), always=())
    saved = {
        "title": item.title,
        "caption": result.caption,
        "notes": list(result.notes),
        "quick": quick,
        "seconds": spent[0],
        "processor_seconds": spent[1],
        "quantities": [quantity.as_dict() for quantity in result.quantities],
        "tables": [asdict(table) for table in result.tables],
    }
    keep(folder / KEPT / f"{item.name}.json", saved)


def load_items(folder: Path) -> tuple[dict[str, Row], list[str]]:
    """What ``save_item`` kept of the finished items of the folder, in the paper's order; and the names of
    those that cannot be read."""
    saved: dict[str, Row] = {}
    lost = []
    for name in NAMES:
        path = folder / KEPT / f"{name}.json"
        if path.exists():
            found = kept(path)
            if found is None or not (folder / f"{name}.svg").is_file():
                lost.append(name)
            else:
                saved[name] = found
    return saved, lost


def remember(
    folder: Path, run: Callable[..., Iterable[Any]], name: str, function: Callable[[Any], Any], cells: Any
) -> list[Any]:
    """What ``function`` gives for each cell, plain values; computed once for a name and its cells.

    ``run`` is a ``map``. The last cells are the largest, and come first.
    """
    key = repr((name, ENGINE_VERSION, cells))
    path = folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    found = kept(path)
    if found is None:
        found = {"values": list(run(function, cells[::-1]))[::-1]}
        keep(path, found)
    values: list[Any] = found["values"]
    return values


# Files of results have a checksum. One that does not say what was written, to the last letter, is as good as
# none, whatever became of it.


def keep(path: Path, content: Row) -> None:
    """Write plain values, and a checksum of them, to a file."""
    content = json.loads(json.dumps(content))
    write_text(path, json.dumps(content | {"checksum": _checksum(content)}, indent=1))


def kept(path: Path) -> Row | None:
    """What ``keep`` wrote; None where there is no such file, or not as it was."""
    try:
        content: Row = json.loads(path.read_text("utf-8"))
        return content if content.pop("checksum") == _checksum(content) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _checksum(content: Row) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a text file whole, or leave it as it was."""
    with write_atomically(path) as file:
        file.write(text.encode("utf-8"))


# summary.json and report.html, both from every finished item that the folder holds.


PACKAGES = ("sparselaw", "numpy", "scipy", "numba", "pandas", "matplotlib")
COLUMNS = ("name", "quantity", "paper", "measured", "theory", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The rows of summary.json, and where the report is."""

    items: list[Row]
    seconds: float
    report: Path
    lost: tuple[str, ...] = ()  # items of the folder that cannot be read and are left out
    times: Mapping[str, Row] = field(default_factory=dict)  # of each item: clock and processor, seconds

    def as_dict(self) -> Row:
        """What summary.json holds: what the paper states with a verdict for each statement, and the rows."""
        claims = judged(self.items)
        return {"claims": claims, "items": self.items, "seconds": self.seconds, "times": dict(self.times)}

    def table(self) -> list[list[str]]:
        """COLUMNS in words, row by row."""

        def cell(value: Any) -> str:
            if isinstance(value, dict):
                return str(Interval(**value))
            return "-" if value is None else value if isinstance(value, str) else f"{value:.4g}"

        return [[cell(row[column]) for column in COLUMNS] for row in self.items]

    def to_frame(self) -> pd.DataFrame:
        """One row for each number, the ends of its interval in columns of their own."""
        import pandas as pd

        ends = ["measured_low", "measured_best", "measured_high"]
        columns = ["name", "quantity", "paper", *ends, "theory", "verdict"]
        return pd.json_normalize(self.items, sep="_").reindex(columns=columns)

    def _repr_html_(self) -> str:
        notes = [f"{name} cannot be read and is left out" for name in self.lost]
        return html_table("Reproduction", COLUMNS, self.table(), notes)


def write_summary(folder: Path, seconds: float) -> Summary:
    """Write summary.json and report.html from every finished item of the folder."""
    saved, lost = load_items(folder)
    rows = [{"name": name, **row} for name, item in saved.items() for row in item["quantities"] or [PICTURE]]
    spent = ("seconds", "processor_seconds", "quick")
    times = {name: {what: item[what] for what in spent} for name, item in saved.items()}
    report = folder / "report.html"
    summary = Summary(items=rows, seconds=seconds, report=report, lost=tuple(lost), times=times)
    content = summary.as_dict()
    write_text(folder / "summary.json", f"{json.dumps(content, indent=2, allow_nan=False)}\n")
    facts = {
        "time of this run": f"{seconds:.0f} s",
        "time of all items when made": f"{sum(item['seconds'] for item in saved.values()):.0f} s",
        "seeds": "0, 1, 2, ...: the same command gives the same numbers",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
    write_html(
        report,
        "page.html",
        items=saved,
        folder=folder.name,
        pictures={name: b64encode((folder / f"{name}.svg").read_bytes()).decode() for name in saved},
        verdicts=Counter(row["verdict"] for item in saved.values() for row in item["quantities"]),
        claims=content["claims"],
        counted=counted(content["claims"]),
        facts=facts,
        mathml=mathml,
        shown=shown,
    )
    return summary
