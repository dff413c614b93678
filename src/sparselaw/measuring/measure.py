"""How sparse real features are: one pass, then everything from counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.files import limited_to
from sparselaw.interval import Interval
from sparselaw.measuring.counting import Features, count_features
from sparselaw.measuring.exponents import Half, Window, amplitude_exponent, exponent, inside, windows
from sparselaw.measuring.extrapolation import beyond, step_tests
from sparselaw.measuring.measurement import CurvePoint, FeatureTable, Measurement, WindowExponent
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.rarefaction import Histogram, histogram, jackknife, jackknife_error, rarefied
from sparselaw.measuring.readers.base import Reading
from sparselaw.measuring.tally import Counted

FEWEST_ROWS = 3  # two must be left when one is left out
DENSE = 0.5  # share of nonzeros above which the data are not sparse
AGREE = 0.01  # of mu: windows that differ by less agree, however sure each is
DISAGREEMENT = 1e-3  # chance of so large a difference between windows of one law


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
        found = count_features(source, values=values, reading=reading, workers=workers, scheduler=scheduler)
    return measurement(found, values=values, D=D)


def measurement(found: Features, *, values: Values, D: Sequence[float] | None = None) -> Measurement:
    """Everything that follows from the counts."""
    counted = found.counted
    n, energy = counted.counts(), counted.total_energies()
    check_features(found.source, counted.rows, n, counted.features)
    rows, block_rows = counted.rows, counted.block_rows()
    data = histogram(
        rows, n, energy, _total(n, energy, counted.total_sums(), rows) if values.center else None
    )
    without = [_without(counted, b, n, energy, values.center) for b in range(len(block_rows))]
    asked = _grid(rows) if D is None else [_asked(rows, d) for d in D]
    eta = _eta(counted)
    fitted, alpha1, reason = _one_exponent(data, without, block_rows)
    tests = step_tests(data)
    return Measurement(
        source=found.source,
        rows=rows,
        features=counted.features,
        seen=int((n > 0).sum()),
        nonzeros=int(n.sum()),
        energy=data.total / rows,
        values=values,
        blocks=len(block_rows),
        curve=tuple(_point(data, without, block_rows, d) for d in asked),
        windows=tuple(fitted),
        alpha1=alpha1,
        alpha1_reason=reason,
        eta=eta,
        beyond=tuple(beyond(data, without, block_rows, tests)),
        tests=tuple(tests),
        table=FeatureTable(rows=rows, count=n, energy=energy, column=counted.column, names=found.names),
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


def _total(n: NDArray[np.int64], energy: FloatArray, sums: FloatArray, rows: int) -> float:
    """n times the sum of the variances."""
    return float((energy - sums**2 / rows)[n > 0].sum()) * rows / (rows - 1.0)


def _without(
    counted: Counted, block: int, n: NDArray[np.int64], energy: FloatArray, center: bool
) -> Histogram:
    """The histogram of all rows but those of a block."""
    left = n - counted.n[block]
    rest = np.where(left > 0, np.maximum(energy - counted.energies(block), 0.0), 0.0)
    rows = counted.rows - int(counted.block_rows()[block])
    total = None
    if center:
        total = _total(left, rest, counted.total_sums() - counted.sums_of_values(block), rows)
    return histogram(rows, left, rest, total)


def _grid(rows: int) -> list[float]:
    """Powers of two up to half of the rows, and that half."""
    grid = [float(2**i) for i in range(1, 40) if 2**i <= rows / 2] or [1.0]
    half = float(rows // 2)
    return [*grid, half] if half > 1.2 * grid[-1] else grid


def _asked(rows: int, D: float) -> float:
    number = check_finite("D", D)
    if not 1.0 <= number <= rows / 2.0:
        raise InputError("D", D, f"must lie between 1 and half of the {rows} rows", "choose another D")
    return number


def _point(
    data: Histogram, without: Sequence[Histogram], block_rows: NDArray[np.int64], D: float
) -> CurvePoint:
    best = rarefied(data, D)
    others = [rarefied(part, D) for part in without]

    def interval(value: Callable[[Any], float], log: bool) -> Interval:
        return jackknife(value(best), [value(part) for part in others], block_rows, log=log)

    mu = interval(lambda r: r.seen_slope, log=False)
    return CurvePoint(
        D=D,
        K=interval(lambda r: r.seen, log=True),
        unseen=interval(lambda r: r.unseen, log=True),
        alpha1=_alpha1_of(mu),
        alpha_D=interval(lambda r: -r.unseen_slope, log=False) if best.unseen > 0.0 else None,
    )


def _alpha1_of(mu: Interval) -> Interval | None:
    """alpha1 = 1/mu - 1, falling in mu; None where every feature has been seen."""
    if not mu.best > 1e-3:
        return None
    high = 1.0 / mu.low - 1.0 if mu.low > 0.0 else math.inf if mu.low <= 0.0 else math.nan
    return Interval(1.0 / mu.high - 1.0, 1.0 / mu.best - 1.0, high)


def _eta(counted: Counted) -> Interval | None:
    """The amplitude law from even and odd blocks, with its interval by leaving out each block."""
    rows = counted.block_rows()
    if len(rows) < 4:
        return None
    cells = counted.n if counted.squares is None else counted.squares
    halves = [
        Half(
            int(rows[parity::2].sum()),
            counted.n[parity::2].sum(axis=0, dtype=np.int64),
            cells[parity::2].sum(axis=0, dtype=np.float64),
        )
        for parity in (0, 1)
    ]
    best = amplitude_exponent(*halves)
    if math.isnan(best):
        return None
    others = []
    for b in range(len(rows)):
        whole, other = halves[b % 2], halves[1 - b % 2]
        left = whole.n - counted.n[b]
        rest = np.where(left > 0, np.maximum(whole.energy - cells[b], 0.0), 0.0)
        others.append(amplitude_exponent(Half(whole.rows - int(rows[b]), left, rest), other))
    return jackknife(best, others, rows)


def _one_exponent(
    data: Histogram, without: Sequence[Histogram], block_rows: NDArray[np.int64]
) -> tuple[list[WindowExponent], Interval | None, str]:
    """The exponent of each window, and one for all where they agree, or why there is none."""
    chosen = windows(data)
    if not chosen:
        return [], None, "too few features are active in few rows to fit a law"
    fitted = [_window(data, without, block_rows, window) for window in chosen]
    whole = Window(chosen[0].low, chosen[-1].high)
    mu = exponent(data, whole)
    if math.isnan(mu):
        return fitted, None, "no single alpha1: the counts follow no power law with alpha1 > 0"
    error = jackknife_error(mu, [exponent(part, whole) for part in without], block_rows)
    if math.isnan(error):
        return fitted, None, "no single alpha1: without a part of the rows there is none"
    distances = [
        (w.mu - mu) ** 2 / (w.error**2 + AGREE**2)
        for w in fitted
        if not math.isnan(w.mu) and w.error == w.error
    ]
    missing = sum(1 for w in fitted if math.isnan(w.mu) or math.isnan(w.error))
    if missing or _chance(sum(distances), len(distances) - 1) < DISAGREEMENT:
        local = ", ".join("none" if w.alpha1 is None else f"{w.alpha1.best:.2g}" for w in fitted)
        return fitted, None, f"no single alpha1: windows from rare to frequent features give {local}"
    others = [exponent(part, whole) for part in without]
    return fitted, _alpha1_of(jackknife(mu, others, block_rows)), ""


def _window(
    data: Histogram, without: Sequence[Histogram], block_rows: NDArray[np.int64], window: Window
) -> WindowExponent:
    mu = exponent(data, window)
    others = [exponent(part, window) for part in without]
    error = jackknife_error(mu, others, block_rows)
    return WindowExponent(
        low=window.low,
        high=window.high,
        features=int(inside(data, window)),
        mu=mu,
        error=error,
        alpha1=None if math.isnan(mu) or math.isnan(error) else _alpha1_of(jackknife(mu, others, block_rows)),
    )


def _chance(chi_square: float, degrees: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(degrees, chi_square)) if degrees > 0 else 1.0
