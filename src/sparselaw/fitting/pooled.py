"""Columns that tell apart rows which a fit would throw together.

Checkpoints of one run hang together: as rows of their own they make intervals far too narrow. Runs with other
data, learning rates or numbers of passes follow laws of their own. Neither shows in N, D and the loss, but
most tables have a column that says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.run_table import NUMBERS, Cells, Table, floats, labels

# Words in the names of columns, letters only and lower case; a column counts if one of its words is here.
RUN_WORDS = frozenset({"run", "runs", "runname", "runid", "experiment", "experiments", "exp", "trial", "job"})
SETTING_WORDS = frozenset(
    {
        "lr", "learning", "epoch", "epochs", "passes", "u", "unique", "uniquetokens", "batch", "bs",
        "batchsize", "optimizer", "schedule", "warmup", "wd", "decay", "dropout", "dataset", "corpus",
        "train", "tokenizer", "vocab", "arch", "architecture", "family", "features", "solver", "inputs",
        "group", "alpha1", "alpha2",
    }
)  # fmt: skip
REPEAT_WORDS = frozenset({"u", "unique", "uniquetokens", "epoch", "epochs", "passes"})
SEED_WORDS = frozenset({"seed", "seeds"})
OUTCOME_WORDS = frozenset({"loss", "flops", "flop", "status", "reason", "averaged", "estimator"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """A column with ``values`` distinct values in the rows used; ``kind`` is run, setting or seed."""

    column: str
    values: int
    kind: str

    def words(self) -> str:
        name = f"'{self.column}'" if re.search(r"\W", self.column) else self.column
        said = f"the column {self.column} tells {self.values} groups of rows apart, and they are pooled: "
        if self.kind == "seed":
            return f"rows of one {self.column} may hang together: --group {name} resamples them whole"
        if self.kind == "run":
            return said + (
                f"rows of one run make the intervals too narrow; resample whole runs with --group {name}, "
                f"or fit each with --by {name}"
            )
        if _words(self.column) & REPEAT_WORDS:
            return said + f"--law data-constrained knows repeated data; or --by {name}, or --group {name}"
        return said + f"fit each with --by {name}, select with --where '{self.column}=...', or --group {name}"


def pooled_columns(rows: Table, used: Mapping[str, str], group: str | None) -> list[Pooled]:
    """The columns of the rows that tell groups apart; ``used`` maps N, D, loss, ... to columns."""
    of_group = None if group is None else labels(rows.column(group))
    sizes = [floats(rows.column(name)) for role, name in used.items() if role in {"N", "D", "C"}]
    loss = labels(rows.column(used["loss"]))
    repeats = "U" in used or "epochs" in used  # a law of repeated data: it knows these columns
    found: list[Pooled] = []
    told: list[tuple[str, IntArray]] = []  # the kinds and groups that earlier columns tell apart
    for column in rows.names:
        if column in used.values() or column == group or rows.names.count(column) > 1:
            continue
        cells = rows.column(column)
        kind = _kind(column, cells)
        if kind is None or (repeats and _words(column) & REPEAT_WORDS):
            continue
        parts = labels(cells)
        values = int(parts.max()) + 1
        if not 2 <= values < len(rows):
            continue
        if of_group is not None and _depends_on(parts, of_group):
            continue  # whole groups have one value: their resampling carries it
        if kind != "run" and (_depends_on(loss, parts) or any(_comes_with(parts, s) for s in sizes)):
            continue  # it comes with N or D, as a learning rate chosen by width does, or tells the loss
        if kind == "other" and values > len(rows) // 2:
            continue
        if any(kind == k and _depends_on(parts, p) and _depends_on(p, parts) for k, p in told):
            continue  # the same groups under another name: one line is enough
        told.append((kind, parts))
        found.append(Pooled(column=column, values=values, kind="setting" if kind == "other" else kind))
    return found


def _kind(column: str, cells: Cells) -> str | None:
    near = _words(column)
    if near & OUTCOME_WORDS:
        return None
    for kind, known in (("seed", SEED_WORDS), ("run", RUN_WORDS), ("setting", SETTING_WORDS)):
        if near & known:
            return kind
    return "other" if cells.dtype.kind not in NUMBERS else None


def _words(column: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", column)
    words = [w.lower() for w in re.findall(r"[A-Za-z]+\d*", spaced)]
    return {*words, "".join(words)}


def _comes_with(labels: IntArray, size: FloatArray) -> bool:
    """Is there one label for each of a few sizes, or for each stretch of sizes?"""
    values, place = np.unique(size, return_inverse=True)
    if values.size <= size.size // 2 and _depends_on(labels, place):
        return True
    in_order = labels[np.argsort(size, kind="stable")]
    return int(np.count_nonzero(np.diff(in_order))) == int(labels.max())


def _depends_on(labels: IntArray, other: IntArray) -> bool:
    """Has every value of ``other`` one label only?"""
    pairs = np.unique(np.stack([other, labels]), axis=1)
    return bool(np.unique(pairs[0]).size == pairs.shape[1])
