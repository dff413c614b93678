"""Tables of runs: ordinary ones, odd ones, and damaged ones, in every form that is read."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np

from fuzz.cases import WORDS, Case, Draw

NAMES = ("N", "D", "loss", "params", "tokens", "flops", "C", "seed", "model", "lr", "stderr", "step",
         "run", "width", "",
         "N ", "Loss", "val/loss", "final_loss", "D (B)", "a\nb", "n_layers", "d_model", "vocab",
         "1")  # fmt: skip
ASKED = (
    ["fit", "--bootstrap", "0"], ["fit", "--bootstrap", "5", "--no-leave-out"], ["fit", "--law", "all",
    "--bootstrap", "0"],
    ["fit", "--law", "coupled", "--bootstrap", "0"], ["fit", "--law", "power", "--bootstrap", "0"],
    ["forecast", "--at", "N=1e10,D=2e11"], ["plan", "--bootstrap", "0", "--budget", "1e21"],
    ["plan", "--bootstrap", "0", "--budget", "1e4"], ["forecast", "--at", "N=1,D=1"],
    ["fit", "--bootstrap", "0", "--plot", "out.svg"], ["fit", "--bootstrap", "0", "--report", "out.html"],
)  # fmt: skip


def ordinary_table(draw: Draw, rows: int | None = None) -> bytes:
    return written(draw, *drawn(draw, rows), "csv")


def drawn(draw: Draw, rows: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Runs of a law with some noise, on a grid, a ray D = 20 N, or anywhere."""
    rows = draw.whole(6, 40) if rows is None else rows
    n = 10 ** draw.rng.uniform(4, 9, rows)
    d = 20.0 * n if draw.chance(0.15) else 10 ** draw.rng.uniform(6, 11, rows)
    if draw.chance(0.3):
        n = 10 ** np.round(np.log10(n))
    loss = 1.7 + 400 * n**-0.34 + 410 * d**-0.28
    if draw.chance(0.1):
        loss = loss[::-1] if draw.chance(0.5) else 1.0 + n / n.max()
    loss = loss * np.exp(draw.rng.normal(0, draw.pick([0.0, 0.01, 0.3]), rows))
    return ["N", "D", "loss"], [[repr(float(v)) for v in row] for row in zip(n, d, loss, strict=True)]


def odd(draw: Draw, names: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The same with cells, columns or rows that are not what they should be."""
    rows = [list(row) for row in rows]
    for _ in range(draw.whole(0, 3)):
        way = draw.whole(0, 8)
        if way == 0 and rows:
            row = draw.pick(rows)
            if row:
                row[draw.whole(0, len(row))] = draw.number()
        elif way == 1:
            names = [*names, draw.pick(NAMES)]
            rows = [[*row, draw.number() if draw.chance(0.7) else draw.pick(WORDS)] for row in rows]
        elif way == 2 and rows:
            draw.pick(rows).append(draw.number())
        elif way == 3 and rows:
            rows.append(list(draw.pick(rows)))
        elif way == 4 and names:
            names = [draw.pick(NAMES) if draw.chance(0.3) else name for name in names]
        elif way == 5:
            factor = 10.0 ** draw.whole(-320, 308)
            column = draw.whole(0, max(len(names), 1))
            rows = [
                [scaled(cell, factor) if i == column else cell for i, cell in enumerate(row)] for row in rows
            ]
        elif way == 6:
            rows = rows[: draw.whole(0, 15)]
        elif rows:
            same = draw.pick(rows)
            rows = [list(same) for _ in rows]
    return names, rows


def scaled(cell: str, factor: float) -> str:
    try:
        return repr(float(cell) * factor)
    except ValueError:
        return cell


def written(draw: Draw, names: list[str], rows: list[list[str]], form: str) -> bytes:
    if form in ("json", "jsonl"):
        records = [dict(zip(names, map(plain, row), strict=False)) for row in rows]
        if form == "jsonl":
            return "\n".join(json.dumps(record) for record in records).encode()
        if draw.chance(0.3):
            return json.dumps({name: [r.get(name) for r in records] for name in names}).encode()
        return json.dumps(records if draw.chance(0.8) else {"runs": records, "x": 1}).encode()
    separator = {"csv": ",", "tsv": "\t"}[form] if draw.chance(0.9) else ";"
    quoted = [f'"{name}"' if "\n" in name else name for name in names]
    return "\n".join(separator.join(row) for row in [quoted, *rows]).encode() + b"\n"


def plain(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell


def table(draw: Draw) -> Case:
    """A command on a table, a folder of them, or standard input."""
    form = draw.pick(["csv", "csv", "csv", "tsv", "json", "jsonl"])
    content = written(draw, *odd(draw, *drawn(draw)), form)
    if draw.chance(0.1):
        content = draw.noise(content)
    name = f"runs.{form}"
    if draw.chance(0.1):
        content, name = gzip.compress(content), f"{name}.gz"
        content = draw.noise(content) if draw.chance(0.5) else content
    if draw.chance(0.05):
        content, name = parquet(draw), "runs.parquet"
    command, *rest = draw.pick(ASKED)
    json_too = ["--json"] if draw.chance(0.4) else []
    if draw.chance(0.08):
        return Case(kind="tables", arguments=(command, "-", *rest, *json_too), stdin=content)
    if draw.chance(0.08):
        other = written(draw, *odd(draw, *drawn(draw)), "csv")
        files = {f"folder/{name}": content, "folder/b.csv": other}
        return Case(kind="tables", arguments=(command, "folder", *rest, *json_too), files=files)
    return Case(kind="tables", arguments=(command, name, *rest, *json_too), files={name: content})


def parquet(draw: Draw) -> bytes:
    import pandas as pd

    names, rows = drawn(draw)
    file = io.BytesIO()
    frame = pd.DataFrame([[plain(cell) for cell in row] for row in rows], columns=names)
    if draw.chance(0.3):
        frame["N"] = [[value, value] for value in frame["N"]]
    frame.to_parquet(file)
    return draw.noise(file.getvalue()) if draw.chance(0.5) else file.getvalue()
