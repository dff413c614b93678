"""The paper's own settings (its appendix on experiments), and what --quick leaves of them."""

from __future__ import annotations

from collections.abc import Sequence

from sparselaw.problem import DenseInputs, SparseInputs

ALPHA1, ALPHA2 = 1.0, 0.3
DIMENSION = 10_000

SPARSE = SparseInputs(alpha1=ALPHA1, alpha2=ALPHA2, dimension=DIMENSION)
DENSE = DenseInputs.matching(SPARSE, DIMENSION)

SWEEP_D = 50_000  # data of the model sweeps
CLOSED_FORM_N = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
CLOSED_FORM_D = (10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1280)
CLOSED_FORM_WIDTH = 16_000
CLOSED_FORM_SEEDS, CLOSED_FORM_LAST = 20, 6

NESTEROV_N = (4, 8, 16, 32, 64, 128, 256)
NESTEROV_D = (10, 20, 40, 80, 160, 320, 640, 1280)
NESTEROV_WIDTH = 8_000
NESTEROV_SEEDS, NESTEROV_LAST = 5, 4

N_TEST, NESTEROV_N_TEST = 50_000, 20_000


QUICK_SEEDS = 3
QUICK_LARGEST = {"N": 96, "D": 320}


def seeds(full: int, quick: bool, features: str = "linear") -> int:
    """As many seeds as the paper, or a few; two of the slow ReLU trials."""
    return min(full, QUICK_SEEDS if features == "linear" else 2) if quick else full


def sizes(full: Sequence[int], variable: str, quick: bool) -> list[int]:
    """The paper's grid, or what a quick run keeps of it."""
    return [size for size in full if not quick or size <= QUICK_LARGEST[variable]]
