"""One frozen description of the inputs, read by theory and simulation alike.

Sparse inputs (Eq. 1): coordinate j is active with probability p_j = j^-(alpha1+1) and then has the value
+-sqrt(c_j), c_j = j^-(alpha2+1), so that its variance is s_j = p_j c_j = j^-(alpha1+alpha2+2).
Dense inputs: x_j ~ N(0, v_j), v_j = j^-(alpha+1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.inputs.exponents import Exponents, dense_exponents, sparse_exponents

LARGEST_EXPONENT = 30.0
DEFAULT_DIMENSION = 10_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseInputs:
    """Sparse inputs with ``dimension`` coordinates (infinitely many by default when alpha1 > 0).

    >>> model = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> model.dimension, round(model.exponents.alpha_N, 12)
    (inf, 2.3)
    """

    kind: ClassVar[str] = "sparse"
    alpha1: float
    alpha2: float
    dimension: float = None  # type: ignore[assignment]  # None going in means the default; never None after

    def __post_init__(self) -> None:
        alpha1 = _checked_exponent("alpha1", self.alpha1)
        alpha2 = _checked_exponent("alpha2", self.alpha2)
        if alpha1 < -1.0:
            raise InputError("alpha1", alpha1, "must be at least -1", "choose alpha1 >= -1")
        if alpha1 + alpha2 + 1.0 <= 0.0:
            raise InputError(
                "alpha2",
                alpha2,
                f"alpha1 + alpha2 + 1 must be positive (alpha1={alpha1})",
                f"choose alpha2 > {-1.0 - alpha1:g}",
            )
        dimension = math.inf if alpha1 > 0.0 else DEFAULT_DIMENSION
        if self.dimension is not None:
            dimension = _checked_dimension(self.dimension)
        if alpha1 <= 0.0 and math.isinf(dimension):
            raise InputError(
                "dimension",
                dimension,
                f"a sample has infinitely many nonzeros when alpha1 <= 0 (alpha1={alpha1})",
                "choose a finite dimension",
            )
        object.__setattr__(self, "alpha1", alpha1)
        object.__setattr__(self, "alpha2", alpha2)
        object.__setattr__(self, "dimension", dimension)

    @property
    def exponents(self) -> Exponents:
        return sparse_exponents(self.alpha1, self.alpha2)

    @property
    def spectrum(self) -> float:
        """The decay a of the variances s_j = j^-a, a = alpha1 + alpha2 + 2."""
        return self.alpha1 + self.alpha2 + 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseInputs:
    """The dense Gaussian baseline with variances j^-(alpha+1).

    >>> DenseInputs(alpha=2.3).dimension
    10000.0
    """

    kind: ClassVar[str] = "dense"
    alpha: float
    dimension: float = DEFAULT_DIMENSION

    def __post_init__(self) -> None:
        alpha = _checked_exponent("alpha", self.alpha)
        if alpha <= 0.0:
            raise InputError("alpha", alpha, "must be positive", "choose alpha > 0")
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "dimension", _checked_dimension(self.dimension))

    @classmethod
    def matching(cls, sparse: SparseInputs, dimension: float = DEFAULT_DIMENSION) -> DenseInputs:
        """The paper's baseline: Gaussian inputs with the variances of ``sparse``."""
        return cls(alpha=sparse.alpha1 + sparse.alpha2 + 1.0, dimension=dimension)

    @property
    def exponents(self) -> Exponents:
        return dense_exponents(self.alpha)

    @property
    def spectrum(self) -> float:
        return self.alpha + 1.0


Inputs = SparseInputs | DenseInputs


def _checked_exponent(name: str, value: float) -> float:
    number = check_finite(name, value)
    if abs(number) > LARGEST_EXPONENT:
        raise InputError(
            name, value, f"is larger in size than {LARGEST_EXPONENT:g}", f"choose {name} within that range"
        )
    return number


def _checked_dimension(value: float) -> float:
    if isinstance(value, (int, float)) and value == math.inf:
        return math.inf
    return float(check_size("dimension", value))
