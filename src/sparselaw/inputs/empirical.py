"""Somebody's own features: a matrix with a row for each sample, dense or sparse.

The rows are the population. D samples are D of its rows drawn without putting back, the loss is that of the
other rows: nothing is extrapolated beyond the matrix, and no law of the features is assumed.
"""

from __future__ import annotations

import functools
import hashlib
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.files import check_archive
from sparselaw.gram.empirical import GivenRows, law_of_rows, mean_law
from sparselaw.gram.law import Atoms
from sparselaw.inputs.base import GivenInputs, Sampling, register

FEWEST_ROWS = 10
LARGEST_SIDE = 4096  # of the matrix whose eigenvalues are taken: half a minute and 400 MB
POPULATION = 2048  # rows, at most, whose covariance stands for that of all: steps and fresh samples
OTHERS = 4096  # rows, at most, over which the loss is averaged
KEPT_BACK = 0.2  # of the rows, at least: they are not trained on
DRAWS = 16  # of training rows, where that is quick
QUICK = 512  # side of the matrix up to which it is; beyond, fewer draws
MOST_ROWS = 2**53
LARGEST_VALUE = 1e150  # its square is still a number
MANY_COLUMNS = 1 << 20  # from so many on, columns without an entry are left out
MOST_EMPTY = 1000  # rows for each entry
INDEX_ARRAYS = ("indptr", "indices", "row", "col")


@register
class EmpiricalInputs(GivenInputs):
    """The rows of a feature matrix.

    Parameters
    ----------
    matrix
        One row a sample, one column a feature: an array or a scipy sparse matrix of finite numbers.
    source
        What to call it, such as the path it was read from.

    Raises
    ------
    InputError
        Where the matrix is none, has too few rows, or numbers that are not finite.

    Examples
    --------
    >>> rows = np.random.default_rng(0).standard_normal((200, 30))
    >>> inputs = EmpiricalInputs(rows)
    >>> inputs.dimension, inputs.gram(50.0).rank
    (30.0, 30.0)
    """

    __slots__ = ()

    kind: ClassVar[str] = "empirical"
    content: ClassVar[str] = "matrix"
    suffixes: ClassVar[tuple[str, ...]] = (".npz", ".npy")
    sampling: ClassVar[Sampling] = "rows"

    def __init__(self, matrix: Any, *, source: str = "") -> None:
        rows = _checked(matrix)
        parts = (rows.indptr, rows.indices, rows.data) if hasattr(rows, "tocsr") else (rows,)
        made = hashlib.sha256(repr(rows.shape).encode())
        for part in parts:
            made.update(np.ascontiguousarray(part).tobytes())
        self._keep((rows,), "m" + made.hexdigest()[:24], rows.shape[1], source)

    @classmethod
    def from_file(cls, path: str | Path) -> EmpiricalInputs:
        """From a .npz of scipy.sparse.save_npz, or an array in a .npy or .npz."""
        return cls(_read(str(path)), source=str(path))

    @property
    def rows(self) -> int:
        """How many rows the matrix has."""
        return int(self._arrays[0].shape[0])

    def __repr__(self) -> str:
        named = ", " + self.source if self.source else ""
        return f"EmpiricalInputs({self.rows} rows of {int(self.dimension)} features{named})"

    def gram(self, D: float, *, sharp: bool = True) -> GivenRows:
        del sharp  # the rows are what they are
        return _gram(self, round(D))

    def population(self, D: float) -> Atoms:
        del D
        return _population(self)

    def variances(self, j: FloatArray) -> FloatArray:
        """Along the principal directions, not the columns."""
        v = np.exp(_population(self).log_g)[::-1]
        index = np.asarray(j, dtype=np.int64) - 1
        return np.where(index < v.size, v[np.minimum(index, v.size - 1)], 0.0)

    def expected_seen(self, D: float) -> float:
        """The mean number of columns with an entry in D rows drawn without putting back: exact."""
        from scipy.special import gammaln  # only where it is needed

        matrix = self._arrays[0]
        n, k = float(self.rows), np.asarray((matrix != 0).sum(axis=0), dtype=np.float64).ravel()
        k = k[k <= n - D]  # others cannot be missed
        missed = gammaln(n - k + 1) + gammaln(n - D + 1) - gammaln(n - k - D + 1) - gammaln(n + 1)
        return self.dimension - float(np.exp(missed).sum())

    def check_drawable(self) -> None:
        remedy = "measure its learning curve with 'sparselaw learn'"
        raise InputError("inputs", self.source or "a matrix", "is given, not drawn", remedy)

    def draw(self, D: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """D training rows, and others."""
        order, (matrix,) = rng.permutation(self.rows), self._arrays
        return matrix[np.sort(order[:D])], matrix[np.sort(order[D : D + OTHERS])]


@functools.lru_cache(maxsize=16)
def _gram(inputs: EmpiricalInputs, D: int) -> GivenRows:
    most = int((1.0 - KEPT_BACK) * inputs.rows)
    if not 1 <= D <= most:
        condition = f"needs {D} of {inputs.rows} rows, of which a fifth must stay to be predicted"
        raise InputError("D", D, condition, f"choose D of at most {most}, or give more rows")
    side = min(D, int(inputs.dimension))
    if side > LARGEST_SIDE:
        condition = f"needs the eigenvalues of a matrix of {side} x {side}, too large for memory and patience"
        raise InputError("D", D, condition, f"choose D of at most {LARGEST_SIDE}, or fewer columns")
    rng = np.random.default_rng(D)
    draws = max(int(DRAWS * min(1.0, (QUICK / side) ** 2)), 1)
    return mean_law([law_of_rows(*inputs.draw(D, rng)) for _ in range(draws)])


@functools.lru_cache(maxsize=8)
def _population(inputs: EmpiricalInputs) -> Atoms:
    """Covariance of all rows; where both sides are large, of some rows, as good as they tell it."""
    rng = np.random.default_rng(0)
    rows = inputs.rows if inputs.dimension <= POPULATION else min(inputs.rows, POPULATION)
    some = inputs._arrays[0][np.sort(rng.permutation(inputs.rows)[:rows])]
    found = law_of_rows(some, some)
    log_v = found.log_g - np.log(rows)
    return Atoms(found.weight, log_v, np.exp(log_v), log_single=found.log_single)


def _checked(matrix: Any) -> Any:
    kind = getattr(matrix, "dtype", None)
    if kind is not None and kind.kind not in "fiubO":  # dates, words and complex numbers
        raise InputError("matrix", kind, "does not hold real numbers", "give real ones")
    if hasattr(matrix, "tocsr"):
        if matrix.shape[0] > max(MOST_EMPTY, MOST_EMPTY * matrix.nnz):
            raise InputError(
                "matrix", f"{matrix.shape[0]} rows", "has hardly a row with an entry", "leave empty rows out"
            )
        with np.errstate(over="ignore"):  # of wider numbers: infinite ones are refused
            rows = matrix.tocsr().astype(np.float64)
        rows.sum_duplicates()
        if rows.shape[1] > max(MANY_COLUMNS, rows.nnz):  # memory is for columns that occur
            occurring, rows.indices = np.unique(rows.indices, return_inverse=True)
            rows.resize(rows.shape[0], occurring.size)
        values = rows.data
    else:
        try:
            rows = values = np.array(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            name = type(matrix).__name__
            raise InputError("matrix", name, "is no matrix of numbers", "give an array of rows") from None
    if rows.ndim != 2 or rows.shape[0] < FEWEST_ROWS or rows.shape[1] < 1:
        condition = f"is not a matrix of at least {FEWEST_ROWS} rows"
        raise InputError("matrix", f"shape {rows.shape}", condition, "give one row a sample")
    if not (np.abs(values) <= LARGEST_VALUE).all():
        shown = "nan or inf" if not np.isfinite(values).all() else f"{np.abs(values).max():.3g}"
        raise InputError("matrix", shown, "must have numbers of at most 1e150 only", "leave such rows out")
    if not np.any(values):
        raise InputError("matrix", "all zero", "shows no feature", "give rows that are not all zero")
    if np.abs(values).max() < 1.0 / LARGEST_VALUE:
        raise InputError("matrix", float(np.abs(values).max()), "is its largest number", "scale the rows")
    return rows


def _read(path: str) -> Any:
    """A sparse or dense matrix; pickles are never opened."""

    def refuse(condition: str) -> InputError:
        return InputError("inputs", path, condition, "write it with scipy.sparse.save_npz or numpy.save")

    try:
        if zipfile.is_zipfile(path):
            check_archive(Path(path), "inputs", "give fewer rows")  # no option raises the limit
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        with found:
            if "format" in found.files:
                from scipy.sparse import load_npz  # only where it is needed

                if any(found[name].dtype.kind not in "iu" for name in INDEX_ARRAYS if name in found.files):
                    raise refuse("has indices that are no whole numbers")
                matrix = load_npz(path)
                if max(matrix.shape) > MOST_ROWS:  # scipy's own sizes end near there
                    raise refuse(f"says that its shape is {matrix.shape}")
                if hasattr(matrix, "check_format"):  # scipy's loops write wherever an index says
                    matrix.check_format(full_check=True)
                return matrix
            if len(found.files) != 1:
                raise refuse(f"holds {len(found.files)} arrays, not one matrix")
            return found[found.files[0]]
    except OSError as error:
        raise refuse(f"cannot be read ({error.strerror or 'it is no such file'})") from None
    except InputError:
        raise
    except Exception:  # a damaged archive raises whatever its parts raise
        raise refuse("is no matrix of numbers") from None
