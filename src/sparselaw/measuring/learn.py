"""Learning curves of real features: measured on rows drawn apart, beside what each theory predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_size
from sparselaw.files import limited_to
from sparselaw.measuring.counting import Loaded, load, title_of
from sparselaw.measuring.learning_curve import (
    LearnedPoint,
    LearningCurve,
    WidthPoint,
    error_of,
    limited_by,
    theory_errors,
    verdict,
)
from sparselaw.measuring.measure import check_features
from sparselaw.measuring.measured_losses import (
    Factored,
    LeftOpen,
    Splits,
    left_open,
    projected_loss,
    random_signs,
    shuffled_columns,
    squares_of,
)
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.predicted_losses import Spectrum, cavity_loss, sparse_loss, spectrum
from sparselaw.measuring.rarefaction import histogram, rarefied
from sparselaw.measuring.readers.base import Reading
from sparselaw.progress import progress
from sparselaw.trials.run import one_thread

FEWEST_ROWS = 64
LARGEST_D = 2048  # of the curve nobody asked for
USUAL = (1e-30, 1e30)  # the size of the largest value


def learn(
    source: Any,
    *,
    D: Sequence[int] | None = None,
    N: Sequence[int] | None = None,
    target: str | int | None = None,
    seeds: int = 3,
    seed: int = 0,
    threshold: float = 0.0,
    binary: bool = False,
    log1p: bool = False,
    center: bool = False,
    format: str | None = None,
    encoding: str = "utf-8",
    split: str = "line",
    tokens: str = "words",
    ngram: int = 1,
    pattern: str | None = None,
    keep_case: bool = False,
    columns: Sequence[str] = (),
    max_size: int | None = None,
) -> LearningCurve:
    """The learning curve of a feature matrix beside the theories, and which of them describes it.

    Losses are those of a random teacher, averaged exactly, as shares of the variance.

    Parameters
    ----------
    source : path, matrix or iterable
        As for ``measure``: a row is a sample, a column a feature.
    D : sequence of int, optional
        Numbers of training rows, with infinitely many random features; by default four sizes.
    N : sequence of int, optional
        Numbers of random features, with many rows; by default three sizes.
    target : str or int, optional
        A column to learn from the others, by its name or number, beside the random teacher.
    seeds : int
        How many times training and test rows are drawn apart.
    seed : int
        The seed of every draw.
    threshold, binary, log1p, center : as for ``measure``
        Which entries are active, and what becomes of their values.
    format, encoding, split, tokens, ngram, pattern, keep_case, columns, max_size : as for ``measure``
        How files are read, where they do not say it themselves.

    Returns
    -------
    LearningCurve
        Measured and predicted losses at each size, the verdict, and what limits the loss now.

    Raises
    ------
    InputError
        Where the source cannot be read, is dense or too small, or a size leaves too few rows to test on.

    Examples
    --------
    >>> from scipy import sparse
    >>> x = sparse.random(600, 100, density=0.03, rng=0)
    >>> learn(x, D=[40], N=[], seeds=2).curve[0].D
    40
    """
    values = Values(threshold=threshold, binary=binary, log1p=log1p, center=center)
    reading = Reading(
        format=format, encoding=encoding, split=split, tokens=tokens, ngram=ngram, pattern=pattern,
        keep_case=keep_case, columns=tuple(columns),
    )  # fmt: skip
    with limited_to(max_size):
        loaded = load(source, values=values, reading=reading)
    title = title_of(source)
    check_size("seeds", seeds)
    x, y = loaded.x, None
    if target is not None:
        column = _column_of(loaded, target)
        y = np.asarray(x[:, column].todense()).ravel()
        x = x[:, np.arange(x.shape[1]) != column]
    features = loaded.features - (target is not None)
    check_features(title, x.shape[0], np.bincount(x.indices, minlength=x.shape[1]), features)
    if x.shape[0] < FEWEST_ROWS:
        raise InputError("file", title, f"has fewer than {FEWEST_ROWS} rows", "give more rows")
    data = FeatureRows(_of_usual_size(_centred(x) if center else x), seed)
    sizes, widths = _sizes(data.rows, D), _widths(data, N)
    work = 1.0 + sum(sizes) * seeds / 2000.0 + len(widths)
    with one_thread(), progress("learning") as show:
        eigen = spectrum(data.x, seed=seed)
        done = 1.0
        curve, along = [], []
        for size in sizes:
            show(done, work, f"D = {size}")
            curve.append(learned_point(data, eigen, size, seeds, y))
            done += size * seeds / 2000.0
        for width in widths:
            show(done, work, f"N = {width}")
            along.append(width_point(data, eigen, width, seeds))
            done += 1.0
    model = min((w.measured.best for w in along), default=None) if N is not None else None
    errors = theory_errors(curve, "measured")
    return LearningCurve(
        source=title,
        rows=data.rows,
        features=features,
        nonzeros=int(data.x.nnz),
        curve=tuple(curve),
        widths=tuple(along),
        errors=errors,
        sign_errors=theory_errors(curve, "signs"),
        sign_change=error_of(curve, lambda p: p.signs.best, "measured"),
        shuffle_change=error_of(curve, lambda p: p.shuffled.best, "signs"),
        verdict=verdict(errors),
        limited_by=limited_by(curve[-1].measured.best, curve[-1].unseen, model),
        target=None if target is None else str(target),
    )


def _column_of(loaded: Loaded, target: str | int) -> int:
    """The column of the target, by its name, or by its number where features have none."""
    names = [str(name) for name in (loaded.names or loaded.column.tolist())]
    if str(target) in names:
        return names.index(str(target))
    numbered = not loaded.names and str(target).isdecimal() and int(target) < loaded.features
    condition = "is never active" if numbered else "is no feature"
    raise InputError("target", target, condition, "give the name or the number of a column, from 0")


def _of_usual_size(x: Any) -> Any:
    """Losses are shares: values whose squares come near the ends of what a number can be are scaled."""
    largest = float(np.abs(x.data).max(initial=0.0))
    if largest == 0.0 or USUAL[0] < largest < USUAL[1]:
        return x
    scaled = x.copy()
    scaled.data = np.ldexp(x.data, -int(np.frexp(largest)[1]))
    return scaled


def _centred(x: Any) -> Any:
    """Means taken off: only for few features, since nothing is zero any more."""
    from scipy import sparse

    if x.shape[0] * x.shape[1] > 50_000_000:
        raise InputError("center", True, "makes every entry nonzero, too many here", "leave out --center")
    dense = x.toarray()
    return sparse.csr_matrix(dense - dense.mean(axis=0))


def _sizes(rows: int, D: Sequence[int] | None) -> list[int]:
    most = rows // 2
    if D is None:
        top = min(most, LARGEST_D)
        return sorted({max(2, round(top / 4.0**i)) for i in range(4)})
    sizes = [check_size("D", d) for d in D]
    if not sizes:
        raise InputError("D", "", "is missing", "give at least one")
    for d in sizes:
        if d > rows - max(8, rows // 50):
            raise InputError("D", d, f"leaves too few of the {rows} rows to test on", "choose a smaller D")
    return sizes


def _widths(data: FeatureRows, N: Sequence[int] | None) -> list[int]:
    if N is None:
        seen = int((data.count > 0).sum())
        top = min(256, seen // 4, data.rows // 8)
        return sorted({n for n in (top // 16, top // 4, top) if n >= 2}) if seen < 200_000 else []
    widths = [check_size("N", n) for n in N]
    for n in widths:
        if n > data.rows // 4:
            raise InputError("N", n, f"is too many for {data.rows} rows", "choose N of at most a quarter")
    return widths


WIDTH_ENTRIES = 30_000_000  # rows times N held at once


@dataclass(frozen=True)
class FeatureRows:
    """A matrix of rows with what its columns hold in all, and the seed of all draws."""

    x: Any
    seed: int

    @property
    def rows(self) -> int:
        return int(self.x.shape[0])

    @cached_property
    def squares(self) -> FloatArray:
        return squares_of(self.x, axis=0)

    @cached_property
    def count(self) -> np.ndarray:
        return np.bincount(self.x.indices, minlength=self.x.shape[1])


def learned_point(
    data: FeatureRows, eigen: Spectrum, D: int, seeds: int, y: FloatArray | None
) -> LearnedPoint:
    """Everything at one D: the theories once, the graph and the measured losses for each draw of the rows."""
    splits = Splits(data.rows, D, seeds, data.seed)
    losses: dict[str, list[LeftOpen]] = {"measured": [], "signs": [], "shuffled": []}
    if y is not None:
        losses["target"] = []
    cavity, seen = [], []
    for train, test, rng in splits:
        x_train, x_test = data.x[train], data.x[test]
        if not x_test.data.any():
            condition = "leaves rows to test on without an entry that is not zero"
            raise InputError("D", D, condition, "give more rows, or features that are active more often")
        both = data.x[np.concatenate([train, test])]
        turned = random_signs(both, rng)
        moved = random_signs(shuffled_columns(both, rng), rng)
        losses["measured"].append(left_open(x_train, x_test))
        losses["signs"].append(left_open(turned[:D], turned[D:]))
        losses["shuffled"].append(left_open(moved[:D], moved[D:]))
        if y is not None:
            answer = Factored(x_train).prediction(y[train], x_test) if x_train.nnz else np.zeros(test.size)
            losses["target"].append(LeftOpen((y[test] - answer) ** 2, y[test] ** 2))
        rest = (data.squares - squares_of(x_train, axis=0)) / (data.rows - D)
        cavity.append(cavity_loss(x_train, np.maximum(rest, 0.0)) / float(rest.sum()))
        seen.append(np.unique(x_train.indices).size)
    active = (data.count > 0) & (data.squares > 0.0)
    n, squares = data.count[active], data.squares[active]
    return LearnedPoint(
        D=D,
        K=float(np.mean(seen)),
        unseen=rarefied(histogram(data.rows, n, squares), float(D)).unseen,
        sparse=sparse_loss(n / data.rows, squares / n, float(D)) / (float(data.squares.sum()) / data.rows),
        cavity=float(np.mean(cavity)),
        gaussian=eigen.loss(float(D)) / eigen.total,
        **{name: splits.interval(found) for name, found in losses.items()},
    )


def width_point(data: FeatureRows, eigen: Spectrum, N: int, seeds: int) -> WidthPoint:
    """The loss of N random features with as many rows as are at hand."""
    many = int(min(data.rows - data.rows // 8, WIDTH_ENTRIES // N))
    splits = Splits(data.rows, many, seeds, data.seed)
    measured = [projected_loss(data.x[train], data.x[test], N, rng) for train, test, rng in splits]
    variances = data.squares[data.squares > 0.0] / data.rows
    alone = Spectrum(variances, np.ones(variances.size))
    return WidthPoint(
        N=N,
        D=many,
        measured=splits.interval(measured),
        gaussian=eigen.loss(float(N)) / eigen.total * many / (many - N - 1.0),
        diagonal=alone.loss(float(N)) / alone.total * many / (many - N - 1.0),
    )
