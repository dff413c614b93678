"""What a reader should know of a table before anything is fitted to it.

Does the loss fall with scale at all? Do the units of N, D and C agree? Does N count embeddings? And which
columns tell apart rows that a fit would throw together: checkpoints of one run are not independent, and as
rows of their own they make intervals far too narrow; runs with other data or other numbers of passes follow
laws of their own. None of this shows in N, D and the loss alone, but most tables have a column that says so.
And which simulated runs lie near the double-descent peak, where no sum of power laws holds?
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.tables import column, find_columns, find_shape, floats, is_numbers, labels

# Words in the names of columns, letters only and lower case: what a column tells that has one of them.
SEED_WORDS = frozenset({"seed", "seeds"})
RUN_WORDS = frozenset({"run", "runs", "runname", "runid", "experiment", "experiments", "exp", "trial", "job"})
TUNED_WORDS = frozenset(
    {
        "lr", "learning", "learningrate", "batch", "bs", "batchsize", "optimizer", "warmup", "wd", "decay",
        "dropout", "momentum", "setting", "settings", "hyperparameters", "hparams",
    }
)  # fmt: skip
REPEAT_WORDS = frozenset({"u", "unique", "uniquetokens", "epoch", "epochs", "passes"})
SETTING_WORDS = REPEAT_WORDS | {
    "schedule", "dataset", "corpus", "train", "tokenizer", "arch", "architecture", "family", "features",
    "solver", "inputs", "group", "alpha1", "alpha2",
}  # fmt: skip
KINDS = {"seed": SEED_WORDS, "run": RUN_WORDS, "tuned": TUNED_WORDS, "setting": SETTING_WORDS}
OUTCOME_WORDS = frozenset({"loss", "flops", "flop", "status", "reason", "averaged", "estimator"})
RISING_WORDS = frozenset({"acc", "accuracy", "score", "bleu", "rouge", "auc", "reward", "em", "pass", "mmlu"})
EMBEDDED = "N seems to include embeddings"
LEFT_OUT = "small models look too large; --count non-embedding leaves them out"
FREE_TEXT = 40  # letters: longer cells on average are a comment
FEWEST_ROWS = 6  # for a rank correlation
RISING = 0.5  # rank correlation of loss and compute from which on a metric rises with scale
OFF = 3.0  # C over 6 N D, or under it, by more than this factor is said
FAR_BELOW = 0.01  # D over N
TYPICAL_VOCABULARY = (5_000.0, 400_000.0)
PEAK_FACTOR = 2.0  # N between K/2 and 2K: the loss is more than about twice what its power law says


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """A column with ``values`` distinct values in the rows used; ``kind`` is run, tuned, setting or seed."""

    column: str
    values: int
    kind: str

    def words(self) -> str:
        name = f"'{self.column}'" if re.search(r"\W", self.column) else self.column
        where = f"--where '{self.column}=...'"
        if self.kind == "seed":
            return f"rows of one {self.column} may be correlated: --group {name} resamples them whole"
        if self.kind == "tuned":
            said = f"the column {self.column} was tried with {self.values} values at the same N and D"
            return f"{said}: --best keeps the best run of each N and D; or {where}"
        advice = f"fit each with --by {name}, or select with {where}"
        if self.kind == "run":
            advice = (
                "checkpoints of one run are not final losses, and make the intervals too narrow; --final "
                f"keeps the last of each run, --group {name} resamples whole runs, --by {name} fits each"
            )
        elif _words(self.column) & REPEAT_WORDS:
            advice = f"--law data-constrained knows repeated data; or --by {name}, {where}"
        groups = f"{self.values} groups of rows apart, and they are pooled"
        return f"the column {self.column} tells {groups}: {advice}"


def pooled_columns(rows: pd.DataFrame, used: Mapping[str, str], group: str | None) -> list[Pooled]:
    """The columns of the rows that tell groups apart; ``used`` maps N, D, loss, ... to columns."""
    of_group = None if group is None else labels(column(rows, group))
    sizes = [floats(column(rows, name)) for role, name in used.items() if role in {"N", "D", "C"}]
    cell = np.unique(np.stack(sizes or [np.zeros(len(rows))]), axis=1, return_inverse=True)[1].ravel()
    loss = labels(column(rows, used["loss"]))
    repeats = "U" in used or "epochs" in used  # a law of repeated data: it knows these columns
    found: list[Pooled] = []
    told: list[tuple[str, IntArray]] = []  # the kinds and groups that earlier columns tell apart
    times, known = Counter(rows.columns), {*used.values(), group}
    for name, cells in ((str(name), cells) for name, cells in rows.items()):
        near = _words(name)
        if name in known or times[name] > 1 or near & OUTCOME_WORDS or (repeats and near & REPEAT_WORDS):
            continue
        kind = next((kind for kind, words in KINDS.items() if near & words), "other")
        if kind == "other" and is_numbers(cells):
            continue
        parts = labels(cells)
        values = int(parts.max()) + 1
        alone = int(np.count_nonzero(np.bincount(parts) == 1))
        if not 2 <= values < len(rows) or alone > 0.6 * len(rows):
            continue  # most rows have a value of their own
        if of_group is not None and _depends_on(parts, of_group):
            continue  # whole groups have one value: their resampling carries it
        if kind != "run" and (_depends_on(loss, parts) or any(_comes_with(parts, s) for s in sizes)):
            continue  # it comes with N or D, as a learning rate chosen by width does, or tells the loss
        if kind == "other" and (values > len(rows) // 2 or _free_text(cells)):
            continue
        if kind == "tuned" and not _tried_at_one_size(parts, cell):
            continue  # one value for each N and D: the table holds the tuned runs alone
        if any(kind == k and _depends_on(parts, p) and _depends_on(p, parts) for k, p in told):
            continue  # the same groups under another name: one line is enough
        told.append((kind, parts))
        found.append(Pooled(column=name, values=values, kind="setting" if kind == "other" else kind))
    return found


def run_column(rows: pd.DataFrame) -> str | None:
    """The one column that names the run of a row, if there is one."""
    near = [name for name in rows.columns if _words(name) & RUN_WORDS and not _words(name) & OUTCOME_WORDS]
    return near[0] if len(near) == 1 else next((n for n in near if n.lower() in RUN_WORDS), None)


def check_falls(name: str, N: FloatArray, D: FloatArray, loss: FloatArray) -> None:
    """Refuse a metric that rises with scale: accuracies have no law of this kind."""
    if loss.size < FEWEST_ROWS:
        return
    risen = rank_correlation(np.log(N) + np.log(D), loss)
    each = [rank_correlation(np.log(size), loss) for size in (N, D) if np.ptp(size) > 0.0]
    if (risen > RISING and min(each) > 0.0) or (_words(name) & RISING_WORDS and risen > 0.0):
        shown = f"rises with scale (rank correlation with N D {risen:+.2f})"
        condition = f"{shown}, and a law is of errors or losses"
        raise InputError("loss", f"column {name}", condition, "give a loss, or an error such as 1 - accuracy")


def unit_words(N: FloatArray, D: FloatArray, C: FloatArray | None, simulated: bool) -> list[str]:
    """Where N, D and C do not go together, as when one of them is in billions."""
    said = []
    per_parameter = float(np.median(D / N))
    if per_parameter < FAR_BELOW and float(np.median(N)) > 1e4:
        said.append(
            f"D is far below N (D from {D.min():.3g} to {D.max():.3g}, median D/N {per_parameter:.1g}): "
            "are tokens given in millions or billions?"
        )
    if per_parameter > 1e6 and float(N.max()) < 1e6 and not simulated:
        said.append(
            f"N is tiny beside D (N from {N.min():.3g} to {N.max():.3g}): are parameters given in millions "
            "or billions?"
        )
    if C is not None:
        ratio = float(np.median(C / (6.0 * N * D)))
        if not 1.0 / OFF <= ratio <= OFF:
            said.append(f"C is {ratio:.2g} times 6 N D in the median row: check the units of N, D and C")
    return said


def non_embedding(table: pd.DataFrame) -> tuple[FloatArray, str] | None:
    """Parameters without embeddings, and where they come from: a column, or 12 L d^2; None where unknown."""
    shape = find_shape(table)
    if "non_embedding" in shape:
        return floats(column(table, shape["non_embedding"])), f"the column {shape['non_embedding']}"
    if "width" in shape and "depth" in shape:
        width, depth = (floats(column(table, shape[role])) for role in ("width", "depth"))
        return 12.0 * depth * width**2, f"12 {shape['depth']} {shape['width']}^2"
    return None


def embedding_words(table: pd.DataFrame, N: FloatArray) -> list[str]:
    """Whether N seems to count embeddings, which makes small models look too large; none where it does not.

    With the width d known, N less 12 L d^2 should be nothing, or d times the vocabulary once or twice.
    """
    shape, bare = find_shape(table), non_embedding(table)
    if bare is None or not float(np.nanmedian(np.abs(N / bare[0] - 1.0))) >= 0.02:
        return []
    if "width" not in shape:
        return [f"{EMBEDDED} ({bare[1]} counts fewer): {LEFT_OUT}"] * bool(np.nanmedian(N / bare[0]) > 1.0)
    rest = (N - bare[0]) / floats(column(table, shape["width"]))
    known = np.isfinite(rest)
    tokens = float(np.median(rest[known]))
    if "vocab" in shape:
        vocabulary = float(np.nanmedian(floats(column(table, shape["vocab"]))))
        counted = any(abs(tokens / (times * vocabulary) - 1.0) < 0.2 for times in (1.0, 2.0))
    else:
        low, high = TYPICAL_VOCABULARY
        counted = low <= tokens <= 2.0 * high and bool(np.all(np.abs(rest[known] / tokens - 1.0) < 0.3))
    if not counted:
        return []
    counted_in = f"N less {bare[1]} is {tokens:,.0f} times the width"
    return [f"{EMBEDDED} ({counted_in}): {LEFT_OUT}"]


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Spearman's, ties at their mean rank; 0 where one does not vary.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]))
    1.0
    """
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return 0.0
    return round(float(pd.Series(x).rank().corr(pd.Series(y).rank())), 12)


def _words(column: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", column)
    words = [w.lower() for w in re.findall(r"[A-Za-z]+\d*", spaced)]
    return {*words, "".join(words)}


def _free_text(cells: pd.Series[Any]) -> bool:
    texts = [str(cell) for cell in cells.dropna()]
    return bool(texts) and sum(map(len, texts)) > FREE_TEXT * len(texts)


def _tried_at_one_size(parts: IntArray, cell: IntArray) -> bool:
    """Do a fifth of the rows share N and D with a row of another value?"""
    pairs = np.unique(np.stack([cell, parts]), axis=1)
    several = np.bincount(pairs[0], minlength=int(cell.max()) + 1) > 1
    return bool(np.count_nonzero(several[cell]) >= 0.2 * cell.size)


def _comes_with(parts: IntArray, size: FloatArray) -> bool:
    """Is there one label for each of a few sizes, or for each stretch of sizes?"""
    values, place = np.unique(size, return_inverse=True)
    if values.size <= size.size // 2 and _depends_on(parts, place):
        return True
    in_order = parts[np.argsort(size, kind="stable")]
    return int(np.count_nonzero(np.diff(in_order))) == int(parts.max())


def _depends_on(parts: IntArray, other: IntArray) -> bool:
    """Has every value of ``other`` one label only?"""
    pairs = np.unique(np.stack([other, parts]), axis=1)
    return bool(np.unique(pairs[0]).size == pairs.shape[1])


def interpolation_threshold(D: Any, alpha1: Any, dimension: Any = math.inf) -> Any:
    """The N at which the double-descent peak sits. A nan alpha1 stands for inputs without rare coordinates.

    The peak is where the parameters just interpolate the data: at N = K(D) for sparse inputs with alpha1 > 0,
    K(D) = Gamma(1 - 1/(alpha1+1)) D^(1/(alpha1+1)) (eq:K-of-D), and at N = D for dense inputs or alpha1 <= 0.
    A rank cannot exceed the samples or the coordinates, so K is cut off at D and at the dimension.

    >>> round(float(interpolation_threshold(50_000, 1.0)), 1)
    396.3
    """
    from sparselaw.inputs.base import seen_law

    samples = 1.0 * np.asarray(D, dtype=np.float64)
    values, which = np.unique(alpha1, return_inverse=True)
    laws = np.array([seen_law(float(value)) for value in values])[which]
    s, g = np.moveaxis(laws.reshape(*np.shape(alpha1), 2), -1, 0)
    return np.minimum(np.minimum(g * samples**s, samples), dimension)


def near_peak(N: Any, D: Any, alpha1: Any, dimension: Any = math.inf, factor: float = PEAK_FACTOR) -> Any:
    """Is N within ``factor`` of the threshold?"""
    ratio = np.asarray(N, dtype=np.float64) / interpolation_threshold(D, alpha1, dimension)
    return (ratio > 1.0 / factor) & (ratio < factor)


def without_peak(
    table: pd.DataFrame, columns: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table without the rows near the peak, and how many went."""
    found = find_columns(table, columns)
    if "alpha1" not in table or "N" not in found or "D" not in found:
        condition = "needs the columns N, D and alpha1 of simulated runs"
        raise InputError("drop-peak", True, condition, "leave it out for other runs")
    N, D, alpha1 = (floats(column(table, name)) for name in (found["N"], found["D"], "alpha1"))
    if "inputs" in table:
        from sparselaw.inputs import KINDS

        never_rare = [name for name, kind in KINDS.items() if kind.sampling == "gaussian"]
        alpha1 = np.where(column(table, "inputs").isin(never_rare), np.nan, alpha1)
    dimension = floats(column(table, "dimension")) if "dimension" in table else np.full(N.size, np.inf)
    dimension = np.where(np.isnan(dimension), np.inf, dimension)
    with np.errstate(invalid="ignore", divide="ignore"):
        near = near_peak(N, D, alpha1, dimension)
    return table[~near], ({"near the double-descent peak": int(near.sum())} if near.any() else {})
