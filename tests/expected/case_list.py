"""Where cases are listed, and what several kinds of them share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import sparselaw as sl

CASES: dict[str, Callable[[], dict[str, Any]]] = {}

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)  # K(100) is about 17
SPARSE_FINITE = sl.SparseInputs(alpha1=0.8, alpha2=-0.4, dimension=30)
DENSE = sl.DenseInputs(alpha=1.3, dimension=40)


def add(name: str, function: Callable[..., dict[str, Any]], *args: Any, **settings: Any) -> None:
    assert name not in CASES, name
    CASES[name] = functools.partial(function, *args, **settings)


def spread(interval: Any) -> list[float | None]:
    return [None if math.isnan(v) else float(v) for v in (interval.low, interval.best, interval.high)]
