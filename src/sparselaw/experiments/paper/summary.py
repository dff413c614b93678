"""summary.json and report.html, both from every finished item that the folder holds."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.experiments.paper.claims import Judged, judged
from sparselaw.experiments.paper.item import Row
from sparselaw.experiments.paper.saved_items import SavedItem, load_items, write_text
from sparselaw.interval import Interval
from sparselaw.plain import html_table
from sparselaw.report import ReportClaim, ReportItem, ReportRow, write_report

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("sparselaw", "numpy", "scipy", "numba", "pandas", "matplotlib")
COLUMNS = ("name", "quantity", "paper", "measured", "theory", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was made: the rows of summary.json, and where the report is."""

    items: list[Row]
    seconds: float
    report: Path
    lost: tuple[str, ...] = ()  # items of the folder that cannot be read and are left out
    times: Mapping[str, Row] = field(default_factory=dict)  # of each item: clock and processor, seconds

    def as_dict(self) -> dict[str, Any]:
        """What summary.json holds."""
        claims = [claim.as_dict() for claim in self.claims]
        return {"claims": claims, "items": self.items, "seconds": self.seconds, "times": dict(self.times)}

    @property
    def claims(self) -> list[Judged]:
        """What the paper states, with a verdict for each statement."""
        return judged(self.items)

    def table(self) -> list[list[str]]:
        """COLUMNS in words, row by row."""
        return [
            [
                row["name"],
                row["quantity"],
                "-" if row["paper"] is None else f"{row['paper']:.4g}",
                "-" if row["measured"] is None else str(Interval(**row["measured"])),
                "-" if row["theory"] is None else f"{row['theory']:.4g}",
                row["verdict"],
            ]
            for row in self.items
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row for each number, the ends of its interval in columns of their own."""
        import pandas as pd

        ends = {f"measured_{end}": end for end in ("low", "best", "high")}
        names = [name for name in COLUMNS if name != "measured"]
        rows = [
            {name: row[name] for name in names}
            | {column: (row["measured"] or {}).get(end) for column, end in ends.items()}
            for row in self.items
        ]
        return pd.DataFrame(rows, columns=[*names[:3], *ends, *names[3:]])

    def _repr_html_(self) -> str:
        notes = [f"{name} cannot be read and is left out" for name in self.lost]
        return html_table("Reproduction", COLUMNS, self.table(), notes)


def write_summary(folder: Path, seconds: float) -> Summary:
    """Both files anew, and what they say."""
    saved, lost = load_items(folder)
    rows = [{"name": name, **row} for name, item in saved.items() for row in item.rows]
    times = {
        name: {"seconds": item.seconds, "processor_seconds": item.processor_seconds, "quick": item.quick}
        for name, item in saved.items()
    }
    report = folder / "report.html"
    summary = Summary(items=rows, seconds=seconds, report=report, lost=tuple(lost), times=times)
    text = json.dumps(summary.as_dict(), indent=2, allow_nan=False)
    write_text(folder / "summary.json", f"{text}\n")
    pages = [_report_item(folder, name, item) for name, item in saved.items()]
    claims = [_report_claim(claim) for claim in summary.claims]
    write_report(summary.report, pages, _facts(saved, seconds), claims)
    return summary


def _report_claim(judged: Judged) -> ReportClaim:
    return ReportClaim(
        words=judged.claim.words,
        formula=judged.claim.formula,
        label=judged.claim.label,
        item=judged.claim.item,
        quantity=judged.quantity,
        sentence=judged.sentence,
        verdict=judged.verdict,
    )


def _report_item(folder: Path, name: str, saved: SavedItem) -> ReportItem:
    return ReportItem(
        name=name,
        title=saved.title,
        caption=saved.caption,
        rows=[_report_row(row) for row in saved.quantities],
        notes=saved.notes,
        tables=saved.tables,
        picture=folder / f"{name}.svg",
        table=f"{name}.csv",
        command=f"sparselaw reproduce {name} --out {folder.name}{' --quick' if saved.quick else ''}",
        seconds=saved.seconds,
        processor_seconds=saved.processor_seconds,
        quick=saved.quick,
    )


def _report_row(row: Row) -> ReportRow:
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


def _measured(row: Row) -> str:
    if row["measured"] is None:
        return "-"
    kind = "" if row["interval"] == "95 %" else f" ({row['interval']})"
    return f"{Interval(**row['measured'])}{kind}"


def _facts(saved: Mapping[str, SavedItem], seconds: float) -> dict[str, str]:
    return {
        "time of this run": f"{seconds:.0f} s",
        "time of all items when made": f"{sum(item.seconds for item in saved.values()):.0f} s",
        "seeds": "0, 1, 2, ...: the same command gives the same numbers",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
