"""Inputs given coordinate by coordinate: measured frequencies and amplitudes, or a user's arrays.

Coordinate j is active with probability p_j and then has the value +-sqrt(c_j). The identity is a digest of
the table: two tables with the same numbers are the same inputs, in whatever order they were given.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite
from sparselaw.inputs.activations import LARGEST_TABLE, ActivationInputs
from sparselaw.inputs.base import GivenInputs, register

MOST_BYTES = 1 << 27  # of a measurement: its coordinates of equal count and square stand together
CELLS = 6_000  # different coordinates from which on neighbours in p and c are put together
CELL = 0.005  # in log p and log c
LARGEST = 1e140  # of the squared amplitudes: losses are squared
LAST = 32  # coordinates from which a tail takes its amplitude


@register
class TabulatedInputs(GivenInputs, ActivationInputs):
    """Coordinates of these probabilities and squared amplitudes.

    Parameters
    ----------
    probabilities
        How often each coordinate is active, above 0 and at most 1.
    squared_amplitudes
        Mean square of each coordinate where it is active.
    source
        What to call it, such as the path it was read from.
    amplitudes
        The name that squared amplitudes had before; refused, since it does not say that they are squared.

    Examples
    --------
    >>> inputs = TabulatedInputs([0.1, 0.5, 0.25], [1.0, 1.0, 2.0])
    >>> inputs.dimension, inputs.expected_nonzeros()
    (3.0, 0.85)
    """

    __slots__ = ()

    kind: ClassVar[str] = "tabulated"
    content: ClassVar[str] = "table"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def __init__(
        self,
        probabilities: Any,
        squared_amplitudes: Any = None,
        *,
        source: str = "",
        amplitudes: Any = None,
    ) -> None:
        if amplitudes is not None or squared_amplitudes is None:
            raise InputError("amplitudes", "", "are given as their squares", "write squared_amplitudes=...")
        p, c = _array("probabilities", probabilities), _array("amplitudes", squared_amplitudes)
        if p.shape != c.shape:
            raise InputError(
                "amplitudes", c.size, f"are not as many as the {p.size} probabilities", "give both"
            )
        if not p.size:
            raise InputError("probabilities", "[]", "name no coordinate", "give at least one")
        if p.size > LARGEST_TABLE:
            raise InputError("probabilities", p.size, "are too many", f"give at most {LARGEST_TABLE}")
        for name, given, usable, condition in (
            ("probabilities", p, (p > 0.0) & (p <= 1.0), "must lie above 0 and not above 1"),
            ("amplitudes", c, np.isfinite(c) & (c > 0.0), "must be positive and finite"),
        ):
            if not usable.all():
                raise InputError(name, float(given[~usable][0]), condition, "leave other coordinates out")
        if not 1.0 / LARGEST <= c.max() <= LARGEST:
            condition = f"is the largest, and not from {1.0 / LARGEST:g} to {LARGEST:g}"
            raise InputError("amplitudes", float(c.max()), condition, "give them in another unit")
        order = np.lexsort((-c, -p))
        p, c = p[order], c[order]
        digest = "t" + hashlib.sha256(p.tobytes() + c.tobytes()).hexdigest()[:24]
        self._keep((p, c), digest, p.size, source)

    @classmethod
    def from_file(cls, path: str | Path) -> TabulatedInputs:
        """From the JSON of ``sparselaw measure --json``, or {"probabilities": [...], "amplitudes": [...]}."""
        file = Path(path)
        if file.is_file() and file.stat().st_size > MOST_BYTES:
            raise InputError("inputs", path, "is larger than any measurement", "check the path")
        try:
            content = json.loads(file.read_text("utf-8"))
        except OSError as error:
            condition = f"cannot be read ({error.strerror})"
            raise InputError("inputs", str(path), condition, "give sparse, dense or a measurement") from None
        except (ValueError, RecursionError):
            raise InputError(
                "inputs", str(path), "is no JSON", "write it with 'sparselaw measure FILE --json'"
            ) from None
        return cls(*_columns(content, str(path)), source=str(path))

    def named(self, source: str) -> TabulatedInputs:
        """The same table under another name."""
        return TabulatedInputs(*self._arrays, source=source)

    def __repr__(self) -> str:
        named = ", " + self.source if self.source else ""
        return f"TabulatedInputs({int(self.dimension)} coordinates{named})"

    def probabilities(self, j: FloatArray) -> FloatArray:
        return np.asarray(self._arrays[0][np.asarray(j, dtype=np.int64) - 1])

    def squared_amplitudes(self, j: FloatArray) -> FloatArray:
        return np.asarray(self._arrays[1][np.asarray(j, dtype=np.int64) - 1])

    def pair_nodes(self, D: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Equal coordinates put together; where there are very many, neighbours too."""
        del D
        return grouped(*self._arrays)

    def continued(self, alpha1: float, eta: float = 0.0, *, rarest: float | None = None) -> TabulatedInputs:
        """With a tail of rarer coordinates: p falls as a power law of exponent alpha1 + 1, c as p^eta.

        ``rarest`` is the probability at which it ends, by default a thousandth of the last.
        """
        decay = check_finite("alpha1", alpha1) + 1.0
        if decay <= 0.0:
            raise InputError("alpha1", alpha1, "must be above -1", "choose a larger alpha1")
        p, c = self._arrays
        last, c_last = float(p[-1]), float(np.exp(np.log(c[-LAST:]).mean()))
        end = last / 1000.0 if rarest is None else rarest
        M = self.dimension
        count = int(min(M * ((last / end) ** (1.0 / decay) - 1.0), LARGEST_TABLE - M))
        j = M + np.arange(1.0, count + 1.0)
        rare = last * (j / M) ** -decay
        large = c_last * (rare / last) ** eta
        return TabulatedInputs(np.append(p, rare), np.append(c, large), source=self.source)


def grouped(p: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(how many, p, c) of the different coordinates."""
    (p_kept, c_kept), weight = np.unique(np.stack([p, c]), axis=1, return_counts=True)
    if weight.size <= CELLS:
        return weight.astype(np.float64), p_kept, c_kept
    label = np.stack([np.rint(np.log(p) / CELL), np.rint(np.log(c) / CELL)])
    cell = np.unique(label, axis=1, return_inverse=True)[1].ravel()  # numpy 2.0 leaves it an axis more
    many = np.bincount(cell).astype(np.float64)
    p_mean = np.bincount(cell, weights=p) / many
    return many, p_mean, np.bincount(cell, weights=p * c) / many / p_mean


def _array(name: str, values: Any) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, type(values).__name__, "are not numbers", f"give {name} as numbers") from None
    if array.ndim != 1:
        raise InputError(name, f"{array.ndim} dimensions", "are not one list", "give one number a coordinate")
    return array


def _columns(content: Any, path: str) -> tuple[FloatArray, FloatArray]:
    """(p, c) of a measurement or of a plain table."""
    if isinstance(content, dict) and "probabilities" in content and "amplitudes" in content:
        return _array("probabilities", content["probabilities"]), _array("amplitudes", content["amplitudes"])
    try:
        table = content["table"]
        squares = table["squares" if "squares" in table else "energy"]  # its name in version 0.2
        n, squares = _array("count", table["count"]), _array("squares", squares)
        many = np.asarray(table["features"])
        rows = float(table["rows"])
        whole = many.dtype.kind == "i" and many.shape == n.shape == squares.shape and many.min() >= 0
        if not (whole and rows > 0.0):
            raise ValueError
        total = float(many.sum(dtype=np.float64))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(
            "inputs", path, "is no measurement", "write it with 'sparselaw measure FILE --json'"
        ) from None
    if total > LARGEST_TABLE:
        raise InputError("inputs", path, f"has {total:g} coordinates", f"give at most {LARGEST_TABLE}")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.repeat(n / rows, many), np.repeat(squares / n, many)
