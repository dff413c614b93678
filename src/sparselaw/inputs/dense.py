"""Dense Gaussian inputs, the paper's baseline: x_j ~ N(0, v_j), v_j = j^-(alpha+1)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.gram.gaussian import Gaussian, population
from sparselaw.gram.law import Atoms, GramLaw
from sparselaw.inputs.base import (
    DEFAULT_DIMENSION,
    Exponents,
    Inputs,
    Sampling,
    check_dimension,
    check_exponent,
    compute_exponent,
    register,
)
from sparselaw.inputs.sparse import SparseInputs


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class DenseInputs(Inputs):
    """The dense Gaussian baseline with variances j^-(alpha+1).

    Parameters
    ----------
    alpha
        How fast the variances fall.
    dimension
        Number of coordinates, which must be finite.

    Examples
    --------
    >>> DenseInputs(alpha=2.3).dimension
    10000.0
    """

    kind: ClassVar[str] = "dense"
    options: ClassVar[tuple[str, ...]] = ("alpha1", "alpha2")
    sampling: ClassVar[Sampling] = "gaussian"

    alpha: float
    dimension: float = DEFAULT_DIMENSION

    def __post_init__(self) -> None:
        alpha = check_exponent("alpha", self.alpha)
        if alpha <= 0.0:
            raise InputError("alpha", alpha, "must be positive", "choose alpha > 0")
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "dimension", check_dimension(self.dimension))

    @classmethod
    def matching(cls, sparse: SparseInputs, dimension: float = DEFAULT_DIMENSION) -> Self:
        """The paper's baseline: Gaussian inputs with the variances of ``sparse``."""
        return cls(alpha=sparse.exponents.alpha_N, dimension=dimension)

    @property
    def exponents(self) -> Exponents:
        """One for both sizes."""
        alpha = self.alpha
        together = compute_exponent(alpha, alpha)
        return Exponents(
            regime="symmetric", alpha_N=alpha, alpha_D=alpha, alpha_C=together, xi_crit=1.0, nu=None
        )

    def variances(self, j: FloatArray) -> FloatArray:
        return j ** -(self.alpha + 1.0)

    def expected_seen(self, D: float) -> float:
        """Every sample shows every coordinate."""
        del D
        return self.dimension

    def gram(self, D: float, *, sharp: bool = True) -> GramLaw:
        return _gram(self, float(D), sharp)

    def population(self, D: float) -> Atoms:
        atoms = population(self.alpha + 1.0, self.dimension, D)
        return replace(atoms, log_g=atoms.log_g - math.log(D))

    def check_drawable(self) -> None:
        if math.isinf(self.dimension):
            raise InputError("dimension", "inf", "dense samples have every coordinate", "choose a finite one")


@functools.lru_cache(maxsize=64)
def _gram(inputs: DenseInputs, D: float, sharp: bool) -> GramLaw:
    """Kept: every N of one D asks the same law."""
    law = Gaussian(population(inputs.alpha + 1.0, inputs.dimension, D), D)
    return law if sharp else law.leading()
