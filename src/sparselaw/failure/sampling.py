"""How the failure probability is to be estimated, where to stop, and how far it has come."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparselaw.errors import InputError, check_finite, check_size

Purpose = Literal["direct", "importance", "spike", "isometry"]
_KEYS: dict[Purpose, int] = {"direct": 0, "importance": 1, "spike": 2, "isometry": 3}

METHODS = ("auto", "direct", "importance", "exact-spike")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling stops at ``failures`` (effective) failures if given, else at the relative standard error.

    In any case it stops after ``replicates`` data sets for one D.
    """

    method: str = "auto"
    relative_error: float = 0.1
    failures: int | None = None
    replicates: int = 200_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            choices = " or ".join(METHODS)
            raise InputError("method", self.method, "is not one of the choices", f"choose {choices}")
        relative_error = check_finite("relative_error", self.relative_error)
        if not 0.0 < relative_error < 1.0:
            raise InputError("relative_error", relative_error, "must lie between 0 and 1", "choose 0.1")
        object.__setattr__(self, "replicates", check_size("replicates", self.replicates))
        if self.failures is not None:
            object.__setattr__(self, "failures", check_size("failures", self.failures))
        if self.seed < 0:
            raise InputError("seed", self.seed, "must not be negative", "choose seed >= 0")

    @property
    def wanted(self) -> int:
        """The (effective) failures to stop at."""
        return self.failures if self.failures is not None else math.ceil(self.relative_error**-2)


def check_threshold(threshold: float) -> float:
    number = check_finite("threshold", threshold)
    if number <= 0.0:
        raise InputError("threshold", number, "must be positive: it is 2 / step size", "choose threshold > 0")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """How far the sampling at one D has come."""

    D: int
    method: str
    done: int  # data sets drawn, those of a pilot and for learning the mixture included
    total: float | None  # about as many there will be; None while nobody knows
    failures: float  # (effective) failures so far


Progress = Callable[[Sampled], None]


def random_numbers(seed: int, D: int, purpose: Purpose) -> np.random.Generator:
    """Those of one D and purpose, whatever the other points asked for."""
    sequence = np.random.SeedSequence(seed, spawn_key=(D, _KEYS[purpose]))
    return np.random.Generator(np.random.PCG64(sequence))
