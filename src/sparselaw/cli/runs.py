"""`sparselaw runs`: what the store holds; export it, prune it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from sparselaw import numbers
from sparselaw.cli.options import FILE, flag, text, typed
from sparselaw.cli.output import note, print_json, print_table
from sparselaw.errors import InputError, check_choice

runs = typer.Typer(
    help="List, export and prune the runs that are kept.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

STORE = text(None, "The store (default: in your data folder).", FILE, "--store")
STUDY = text(None, "Only this study (see the list).", "ID")
JSON = flag("--json", "Print one JSON object.")


def a_status(name: str, text: str) -> str:
    from sparselaw.trials.task import STATUSES

    return check_choice(name, text, STATUSES)


STATUS = typed("WORD", a_status)(None, "Only runs with this status, such as failed.")


@runs.callback(invoke_without_command=True)
def _list(context: typer.Context, store: str | None = STORE, json: bool = JSON) -> None:
    context.obj = store
    if context.invoked_subcommand is None:
        list_(context, store, json)


@runs.command("list")
def list_(context: typer.Context, store: str | None = STORE, json: bool = JSON) -> None:
    """One line per study: its settings, sizes, number of runs and failures."""
    path = _path(store or context.obj)
    entries: list[dict[str, Any]] = []
    if store or context.obj or path.exists():
        from sparselaw.sweeps.store import open_store

        with open_store(path, read_only=True) as opened:
            entries = [study.as_dict() for study in opened.studies()]
    if json:
        print_json({"store": str(path), "studies": entries})
    elif not entries:
        note(f"no runs in {path}")
    else:
        columns = ["study", "inputs", "features", "solver", "N", "D", "cells", "runs", "failed", "finished"]
        print_table(str(path), columns, [_line(entry) for entry in entries])


@runs.command()
def export(
    context: typer.Context,
    out: str = text(..., "A name ending in .csv or .parquet."),
    store: str | None = STORE,
    study: str | None = STUDY,
    status: str | None = STATUS,
    json: bool = JSON,
) -> None:
    """Write runs to a CSV or Parquet file, sorted by study, N, D and seed."""
    from sparselaw.sweeps.runs_table import check_out, row_of, write_table
    from sparselaw.sweeps.store import open_store

    path = _path(store or context.obj)
    check_out(out, path)
    with open_store(path, read_only=True) as opened:
        _check_study(opened, study)
        rows = [row_of(identity, record) for identity, record in opened.runs(study=study, status=status)]
    write_table(Path(out), rows)
    note(f"{len(rows)} runs written to {out}")
    if json:
        print_json({"out": out, "runs": len(rows)})


@runs.command()
def prune(
    context: typer.Context,
    store: str | None = STORE,
    study: str | None = STUDY,
    status: str | None = STATUS,
    older_than: str | None = text(None, "Only runs this old.", "DAYS"),
    old_engine: bool = flag("--old-engine", "Only runs of other engine versions."),
    json: bool = JSON,
) -> None:
    """Delete the runs for which all the given conditions hold."""
    import time

    from sparselaw.sweeps.store import open_store
    from sparselaw.trials.task import ENGINE_VERSION

    if not (study or status or older_than is not None or old_engine):
        remedy = "give --study, --status, --older-than or --old-engine"
        raise InputError("prune", "", "would delete every run", remedy)
    before = None
    if older_than is not None:
        days = numbers.real("older-than", older_than)
        if days < 0:
            raise InputError("older-than", older_than, "must not be negative", "give a number of days")
        before = time.time() - 86_400 * days
    path = _path(store or context.obj)
    with open_store(path, read_only=True) as opened:  # a store that is not there is not made
        _check_study(opened, study)
    with open_store(path) as opened:
        engine = ENGINE_VERSION if old_engine else None
        count = opened.prune(study=study, status=status, before=before, other_engine_than=engine)
    note(f"{count} runs deleted from {path}")
    if json:
        print_json({"store": str(path), "deleted": count})


def _path(store: str | None) -> Path:
    from sparselaw.sweeps.store import default_store

    return Path(store) if store else default_store()


def _check_study(store: Any, study: str | None) -> None:
    if study is not None and study not in {known.id for known in store.studies()}:
        raise InputError("study", study, "is not in the store", "see the list with 'sparselaw runs'")


def _line(entry: dict[str, Any]) -> list[str]:
    inputs = [  # words as they are, cut: a table is known by its digest
        f"{name}={value:g}" if isinstance(value, int | float) else f"{name}={str(value)[:12]}"
        for name, value in entry["problem"].items()
        if value != "inf"
    ]
    ends = [(entry[size]["smallest"], entry[size]["largest"]) for size in ("N", "D")]
    return [
        entry["study"],
        " ".join([entry["inputs"], *inputs]),
        entry["features"],
        entry["solver"]["name"] + (" (raw)" if entry["estimator"] == "raw" else ""),
        *(str(low) if low == high else f"{low}..{high}" for low, high in ends),
        *(str(entry[count]) for count in ("cells", "runs", "failed")),
        entry["finished"][:16].replace("T", " "),
    ]
