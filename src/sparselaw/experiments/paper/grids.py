"""The paper's own settings (its appendix on experiments), and what --quick leaves of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparselaw.features import FEATURES
from sparselaw.inputs import DenseInputs, SparseInputs

ALPHA1, ALPHA2 = 1.0, 0.3
DIMENSION = 10_000

SPARSE = SparseInputs(alpha1=ALPHA1, alpha2=ALPHA2, dimension=DIMENSION)
DENSE = DenseInputs.matching(SPARSE, DIMENSION)

SWEEP_D = 50_000  # data of the model sweeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The sizes of an N-sweep and a D-sweep, and how they are measured and fitted."""

    N: tuple[int, ...]
    D: tuple[int, ...]
    width: int  # N of the D-sweep
    seeds: int
    last: int  # points that are fitted
    n_test: int
    calm_seeds: int = 8  # of the dense D-sweep: dear, and losses scatter by 3 %, elsewhere by 30 %


CLOSED_FORM = Grid(
    N=(4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    D=(10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1280),
    width=16_000,
    seeds=20,
    last=6,
    n_test=50_000,
)
NESTEROV = Grid(
    N=(4, 8, 16, 32, 64, 128, 256),
    D=(10, 20, 40, 80, 160, 320, 640, 1280),
    width=8_000,
    seeds=5,
    last=4,
    n_test=20_000,
)

QUICK_SEEDS = 3
QUICK_LARGEST = {"N": 96, "D": 320}


def seeds(full: int, quick: bool, features: str = "linear") -> int:
    """As many seeds as the paper, or a few; two of the slow ReLU trials."""
    return min(full, QUICK_SEEDS if FEATURES[features].has_surface else 2) if quick else full


def sizes(full: Sequence[int], variable: str, quick: bool) -> list[int]:
    """The paper's grid, or what a quick run keeps of it."""
    return [size for size in full if not quick or size <= QUICK_LARGEST[variable]]
