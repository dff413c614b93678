"""Numbers of the reproduction on the pages: each stands in ``results/reproduction.json``, and only there.

    python docs/quote_results.py [FOLDER]

With the FOLDER of a full reproduction (``sparselaw reproduce --out FOLDER``) that file is written anew, and
the tables of the gallery's pictures with it. Then the pages are. A number with a mark behind it, as in
``2.143 [2.138, 2.148]<!--figure-5/joint-exponent-->``, becomes the row that the mark names. What stands
between ``<!--table NAME-->`` and ``<!--end-->`` becomes the table of that name. A mark names a row by the
item and the first words of its quantity; a word behind them (``best``, ``theory``, ``paper``) takes one
number. Marks are comments: no reader sees them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparselaw.interval import Interval

DOCS = Path(__file__).parent
RESULTS = DOCS / "results" / "reproduction.json"
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")))
COPIED = ("beyond-passes.csv",)  # tables that pictures of the gallery are drawn from
COLUMNS = ("quantity", "paper", "paper_is_bound", "theory", "verdict")
NUMBER = re.compile(r"(-?[\d.,]+(?:e-?\d+)?(?: \[[^\[\]]*\])?)<!--([a-z0-9-]+/[a-z0-9-]*)( [a-z]+)?-->")
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

    text = NUMBER.sub(number, text)
    return TABLE.sub(lambda found: f"{found[1]}{TABLES[found[2]](results)}\n{found[3]}", text)


def quoted(key: str, part: str | None, results: Results) -> str:
    """The number of one row, or a part of it."""
    found = [name for name in results["rows"] if name.startswith(key)]
    row = results["rows"][key] if key in found else results["rows"][found[0]] if len(found) == 1 else None
    if row is None:
        raise KeyError(f"{key} is the beginning of {len(found)} rows: {', '.join(found)}")
    measured = Interval(**row["measured"])
    if part is None:
        return str(measured)
    return f"{measured.best if part == ' best' else row[part.strip()]:.4g}"


def claims_table(results: Results) -> str:
    lines = [
        "| the paper states | decided by | must be | measured [95 %] | verdict |",
        "|---|---|---|---|---|",
    ]
    for claim in results["claims"]:
        cells = (
            claim["claim"],
            f"{claim['item']}: {claim['quantity']}",
            claim["must_be"],
            str(Interval(**claim["measured"])),
            claim["verdict"],
        )
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def iterations_table(results: Results) -> str:
    lines = ["| what | measured exponent [95 %] | paper | corrected |", "|---|---|---|---|"]
    for key, row in results["rows"].items():
        if key.startswith("table-3/"):
            numbers = f"{Interval(**row['measured'])} | {row['paper']:.4g} | {row['theory']:.4g}"
            lines.append(f"| {row['quantity']} | {numbers} |")
    return "\n".join(lines)


TABLES: dict[str, Callable[[Results], str]] = {
    "claims": claims_table,
    "iterations": iterations_table,
}


def main() -> None:
    if len(sys.argv) > 1:
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
