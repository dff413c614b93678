"""The random numbers of one point, whatever the other points asked for."""

from __future__ import annotations

from typing import Literal

import numpy as np

Purpose = Literal["direct", "importance", "spike", "isometry"]
_KEYS: dict[Purpose, int] = {"direct": 0, "importance": 1, "spike": 2, "isometry": 3}


def random_numbers(seed: int, D: int, purpose: Purpose) -> np.random.Generator:
    sequence = np.random.SeedSequence(seed, spawn_key=(D, _KEYS[purpose]))
    return np.random.Generator(np.random.PCG64(sequence))
