"""Figures on the pages: each stands in a file of ``results/``, and the pages are written from there.

    python docs/quote_results.py                            the pages anew
    python docs/quote_results.py FOLDER                     the reproduction's numbers first, from its folder
    COMMAND | python docs/quote_results.py --keep NAME,...  the tables that COMMAND prints first

FOLDER is that of a full reproduction (``sparselaw reproduce --out FOLDER``): ``results/reproduction.json``,
the times of its items and the tables of the gallery's pictures are taken from it. With ``--keep`` the tables
that a benchmark or a slow test prints go to ``results/tables/NAME.csv``, cell by cell, in their order. Rows
without a head keep the head of the file.

What stands on a page between ``<!--table NAME-->`` and ``<!--end-->`` becomes the table of that name. A
number with a mark behind it, as in ``2.143 [2.138, 2.148]<!--figure-5/joint-exponent-->``, becomes the row
that the mark names: by the item or the table, and the first words of the row. A word behind them takes one
part: of the reproduction ``best``, ``theory`` or ``paper``, of a table a column (the second where there is no
word). Marks are comments: no reader sees them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from derived_tables import table_of
from kept_tables import Table, keep, markdown, write_kept

from sparselaw.interval import Interval

DOCS = Path(__file__).parent
RESULTS = DOCS / "results" / "reproduction.json"
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")))
COPIED = ("beyond-passes.csv",)  # tables that pictures of the gallery are drawn from
COLUMNS = ("quantity", "paper", "paper_is_bound", "theory", "verdict")
NUMBER = re.compile(
    r"(-?[\d.,]+(?:e-?\d+)?(?: \[[^\[\]]*\])?(?: (?:%|s|ms|GiB))?)<!--([a-z0-9-]+/[a-z0-9-]*)( [a-z-]+)?-->"
)
TABLE = re.compile(r"(<!--table ([a-z0-9-]+)-->\n).*?(<!--end-->)", re.DOTALL)
Results = dict[str, Any]


def take(folder: Path) -> None:
    """The results file from a full reproduction."""
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    if problem := refused(summary, str(folder)):
        sys.exit(problem)
    rows = {}
    for row in summary["items"]:
        if row["measured"] is not None:
            kept = {key: row[key] for key in COLUMNS}
            rows[f"{row['name']}/{slug(row['quantity'])}"] = kept | {"measured": short(row["measured"])}
    claims = [claim | {"measured": short(claim["measured"])} for claim in summary["claims"]]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"claims": claims, "rows": rows}, indent=1) + "\n", "utf-8")
    for name in COPIED:
        shutil.copyfile(folder / name, RESULTS.parent / name)
    write_kept("reproduction-times", (["item", "clock, s", "processor, s"], spent_times(summary)))


def spent_times(summary: Results) -> list[list[str]]:
    """Of every item; then of the paper's figures and tables, of these with the checks, and of the whole."""
    times = {name: (spent["seconds"], spent["processor_seconds"]) for name, spent in summary["times"].items()}
    own = [name for name in times if not name.startswith(("checks", "beyond-"))]
    sums = {"figures and tables of the paper": own, "the same with the checks": [*own, "checks"]}
    rows = times | {what: total([times[name] for name in names]) for what, names in sums.items()}
    whole = {"the whole": (summary["seconds"], total(list(times.values()))[1])}
    return [[name, f"{clock:.0f}", f"{used:.0f}"] for name, (clock, used) in (rows | whole).items()]


def total(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return sum(clock for clock, _ in pairs), sum(used for _, used in pairs)


def refused(summary: Results, folder: str) -> str:
    """Why a summary cannot be quoted; empty where it can."""
    if missing := [claim["item"] for claim in summary["claims"] if claim["measured"] is None]:
        return f"{folder}: has no number of {', '.join(sorted(set(missing)))}; make every item"
    quick = [name for name, spent in summary["times"].items() if spent["quick"]]
    return f"{folder}: {', '.join(quick)} was made with --quick; pages quote full runs" if quick else ""


def short(interval: dict[str, float]) -> dict[str, float]:
    """Ten digits: more than any page shows."""
    return {end: float(f"{value:.10g}") for end, value in interval.items()}


def slug(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def filled(text: str, results: Results) -> str:
    """A page with every mark and every table as the results have them."""

    def number(found: re.Match[str]) -> str:
        return f"{quoted(found[2], found[3], results)}<!--{found[2]}{found[3] or ''}-->"

    def table(found: re.Match[str]) -> str:
        made = TABLES[found[2]](results) if found[2] in TABLES else table_of(found[2])
        if made is None:
            raise KeyError(f"there is no table {found[2]}")
        return f"{found[1]}{markdown(made)}\n{found[3]}"

    return TABLE.sub(table, NUMBER.sub(number, text))


def quoted(key: str, part: str | None, results: Results) -> str:
    """The number of one row, or a part of it."""
    item, _, words = key.partition("/")
    if (table := table_of(item)) is not None:
        return cell_of(table, words, (part or "").strip())
    found = [name for name in results["rows"] if name.startswith(key)]
    row = results["rows"][key] if key in found else results["rows"][found[0]] if len(found) == 1 else None
    if row is None:
        raise KeyError(f"{key} is the beginning of {len(found)} rows: {', '.join(found)}")
    measured = Interval(**row["measured"])
    if part is None:
        return str(measured)
    return f"{measured.best if part == ' best' else row[part.strip()]:.4g}"


def cell_of(table: Table, words: str, column: str) -> str:
    """The cell in the row and the column that begin with these words."""
    head, rows = table
    found = [row for row in rows if slug(row[0]).startswith(words)]
    found = [row for row in found if slug(row[0]) == words] or found
    columns = [i for i, title in enumerate(head) if slug(title).startswith(column)] if column else [1]
    if len(found) != 1 or len(columns) != 1:
        raise KeyError(f"{words} is the beginning of {len(found)} rows, {column} of {len(columns)} columns")
    return found[0][columns[0]]


def claims_table(results: Results) -> Table:
    rows = [
        [
            f"{claim['claim']} {claim['formula']}",
            f"{claim['item']}: {claim['quantity']}",
            claim["must_be"],
            str(Interval(**claim["measured"]))
            + ("" if claim["interval"] == "95 %" else f" ({claim['interval']})")
            + (f"; {claim['compared']}" if claim["compared"] and "printed" not in claim["must_be"] else ""),
            claim["verdict"],
        ]
        for claim in results["claims"]
    ]
    head = ["the paper states", "decided by", "must be", "measured [95 %]", "verdict"]
    return head, [[cell.replace("|", r"\|") for cell in row] for row in rows]


def iterations_table(results: Results) -> Table:
    rows = [row for key, row in results["rows"].items() if key.startswith("table-3/")]
    head = ["what", "measured exponent [95 %]", "paper", "corrected"]
    return head, [
        [row["quantity"], str(Interval(**row["measured"])), f"{row['paper']:.4g}", f"{row['theory']:.4g}"]
        for row in rows
    ]


TABLES: dict[str, Callable[[Results], Table]] = {
    "claims": claims_table,
    "iterations": iterations_table,
}


def main() -> None:
    if sys.argv[1:2] == ["--keep"]:
        keep(sys.argv[2].split(","), sys.stdin.read())
    elif len(sys.argv) > 1:
        take(Path(sys.argv[1]))
    results = json.loads(RESULTS.read_text("utf-8"))
    for page in PAGES:
        text = page.read_text("utf-8")
        new = filled(text, results)
        if new != text:
            page.write_text(new, "utf-8")
            print(f"{page.name} has new numbers")


if __name__ == "__main__":
    main()
