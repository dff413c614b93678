"""How sparse real features are: one pass, then everything from counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.files import limited_to
from sparselaw.interval import Interval
from sparselaw.measuring.counting import count_features, title_of
from sparselaw.measuring.exponents import amplitude_exponent, sparsity_exponent
from sparselaw.measuring.measurement import CurvePoint, FeatureTable, Measurement
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.rarefaction import (
    Blocks,
    alpha1_of,
    beyond,
    jackknife,
    rarefied,
    step_tests,
)
from sparselaw.measuring.readers.base import Reading

FEWEST_ROWS = 3  # two must be left when one is left out
DENSE = 0.5  # share of nonzeros above which the data are not sparse


def measure(
    source: Any,
    *,
    D: Sequence[float] | None = None,
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
    workers: int | None = None,
    scheduler: str | None = None,
    max_size: int | None = None,
) -> Measurement:
    """Measure how sparse a feature matrix is, and what its rows never showed.

    Parameters
    ----------
    source : path, matrix or iterable
        A row is a sample, a column a feature: a scipy matrix, an array, blocks of rows one after the other, a
        file, a folder of files, or a list of them. ``"stdlib"`` is Python's own source.
    D : sequence of float, optional
        Numbers of rows at which to look; by default powers of two up to half of the rows.
    threshold : float
        Entries of this size or less are not active.
    binary : bool
        Every active entry counts as 1.
    log1p : bool
        Every active entry becomes log(1 + value).
    center : bool
        Variances are taken about the mean of each feature, not about zero.
    format : str, optional
        What the files are: ``npz``, ``npy``, ``mtx``, ``svmlight``, ``triplets``, ``transactions``, ``text``,
        ``python``, ``h5ad`` or ``safetensors``. By default their endings decide.
    encoding : str
        The encoding of text.
    split : str
        What ends a document of text: ``line``, ``blank`` (an empty line), ``file``, or a regular expression
        that stands between two documents.
    tokens : str
        The features of text: ``words`` or ``characters``.
    ngram : int
        So many tokens in a row are one feature.
    pattern : str, optional
        A regular expression; tokens are its matches.
    keep_case : bool
        Whether text keeps its capital letters.
    columns : sequence of str
        The names of the columns sample, feature and value in a table of triplets.
    workers : int, optional
        Processes that count several files side by side; by default as many as there are cores.
    scheduler : str, optional
        The address of a Dask scheduler whose workers see the files.
    max_size : int, optional
        Bytes that a file may unpack to and ask for in memory, where it is not 512 MB.

    Returns
    -------
    Measurement
        Counts, the unseen share of the variance, exponents where there are some, each with its interval.

    Raises
    ------
    InputError
        Where the source cannot be read, is dense, or is too small.

    Examples
    --------
    >>> from scipy import sparse
    >>> found = measure(sparse.random(400, 300, density=0.02, rng=1))
    >>> found.rows, found.nonzeros, found.regime
    (400, 2400, 'crossover')
    """
    values = Values(threshold=threshold, binary=binary, log1p=log1p, center=center)
    reading = Reading(
        format=format, encoding=encoding, split=split, tokens=tokens, ngram=ngram, pattern=pattern,
        keep_case=keep_case, columns=tuple(columns),
    )  # fmt: skip
    if workers is not None:
        check_size("workers", workers)
    with limited_to(max_size):
        counted, names = count_features(
            source, values=values, reading=reading, workers=workers, scheduler=scheduler
        )
    title, rows, n = title_of(source), counted.rows, counted.counts()
    check_features(title, rows, n, counted.features)
    blocks = Blocks.of(counted)
    fitted, alpha1, reason = sparsity_exponent(blocks)
    tests = step_tests(blocks.data)
    squares = np.asarray(counted.squares.sum(axis=0, dtype=np.float64))
    return Measurement(
        source=title,
        rows=rows,
        features=counted.features,
        seen=int((n > 0).sum()),
        nonzeros=int(n.sum()),
        variance=blocks.data.total / rows,
        values=values,
        blocks=len(blocks.rows),
        curve=tuple(_point(blocks, d) for d in _sizes(rows, D)),
        windows=tuple(fitted),
        alpha1=alpha1,
        alpha1_reason=reason,
        eta=amplitude_exponent(counted),
        beyond=tuple(beyond(blocks, tests)),
        tests=tuple(tests),
        table=FeatureTable(rows=rows, count=n, squares=squares, column=counted.column, names=names),
    )


def check_features(source: str, rows: int, n: NDArray[np.int64], features: int) -> None:
    """Refuse what says nothing of sparse features."""
    nonzeros = int(n.sum())

    def refuse(condition: str, remedy: str) -> InputError:
        return InputError("file", source, condition, remedy)

    if rows == 0 or features == 0:
        raise refuse("has no rows or no features", "give a matrix with a row a sample")
    if rows < FEWEST_ROWS:
        shown = "one row" if rows == 1 else f"{rows} rows"
        raise refuse(f"has {shown}, too few to say how often a feature is active", "give many rows")
    if nonzeros == 0:
        raise refuse("has no entry that is not zero", "lower --threshold, or check the file")
    if features == 1:
        raise refuse("has one feature", "give a row a sample and a column a feature")
    if nonzeros > DENSE * rows * features:
        share = nonzeros / (rows * features)
        raise refuse(
            f"is dense: {100 * share:.3g} % of its entries are not zero",
            "give --threshold to say what is active, or features that are mostly zero",
        )


def _sizes(rows: int, D: Sequence[float] | None) -> list[float]:
    """Those asked for; by default powers of two up to half of the rows, and that half."""
    if D is None:
        half = float(rows // 2)
        grid = [2.0**i for i in range(1, 60) if 2.0**i <= rows / 2.0] or [1.0]
        return [*grid, half] if half > 1.2 * grid[-1] else grid
    for size in D:
        if not 1.0 <= check_finite("D", size) <= rows / 2.0:
            raise InputError("D", size, f"must lie between 1 and half of the {rows} rows", "choose another D")
    return [float(size) for size in D]


def _point(blocks: Blocks, D: float) -> CurvePoint:
    best, others = blocks.each(lambda data: rarefied(data, D))

    def interval(name: str, *, log: bool = False) -> Interval:
        return jackknife(getattr(best, name), [getattr(r, name) for r in others], blocks.rows, log=log)

    slope = interval("unseen_slope")
    return CurvePoint(
        D=D,
        K=interval("seen", log=True),
        unseen=interval("unseen", log=True),
        alpha1=alpha1_of(interval("seen_slope")),
        alpha_D=Interval(-slope.high, -slope.best, -slope.low) if best.unseen > 0.0 else None,
    )
