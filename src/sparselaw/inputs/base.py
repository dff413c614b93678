"""What inputs must answer. Everything else asks them and never which kind they are."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.inputs.exponents import Exponents
from sparselaw.inputs.power_activations import PowerActivations
from sparselaw.sums.constants import resolved_edge
from sparselaw.sums.counts import CountSums
from sparselaw.sums.spectrum import VarianceSums

LARGEST_EXPONENT = 30.0
DEFAULT_DIMENSION = 10_000.0

Sampling = Literal["activations", "gaussian"]
ClosedForm = Literal["counts", "gaussian"]


class Inputs(ABC):
    """The law of one sample x: coordinates j = 1, 2, ..., ``dimension``, of mean zero and uncorrelated."""

    __slots__ = ()

    kind: ClassVar[str]  # the name on the command line, in tables and in stores
    sampling: ClassVar[Sampling]  # how a sample is drawn: rare coordinates, or all of them, Gaussian
    dimension: float

    def parameters(self) -> dict[str, Any]:
        """The record as plain values: with ``kind`` it is the identity."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> Self:
        """Back from the identity, or from the row of a table that has more columns than it needs."""
        return cls(**{f.name: float(values[f.name]) for f in dataclasses.fields(cls)})  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def from_options(cls, given: Mapping[str, float], dimension: float | None) -> Self:
        """The inputs that options describe: ``given`` has those of alpha1, alpha2, alpha that were named.

        A dimension of None is the usual one.
        """

    @abstractmethod
    def variances(self, j: FloatArray) -> FloatArray:
        """E x_j^2."""

    @abstractmethod
    def fourth_moments(self, j: FloatArray) -> FloatArray:
        """E x_j^4."""

    @property
    @abstractmethod
    def exponents(self) -> Exponents | None:
        """What the loss falls with, or None where no power law holds."""

    def power_law(self) -> Exponents:
        """The exponents, or a refusal where there are none."""
        if self.exponents is None:
            raise InputError("inputs", self.kind, "follow no power law", "give SparseInputs or DenseInputs")
        return self.exponents

    @property
    def spectrum(self) -> float:
        """The decay a of the variances j^-a, where they are a power law."""
        return self.power_law().alpha_N + 1.0

    def model_constant(self) -> float:
        """C_N in loss = C_N N^-alpha_N as D -> infinity: ((pi/a)/sin(pi/a))^a, a = alpha_N + 1."""
        return math.pow(resolved_edge(self.spectrum), self.spectrum)

    def data_constant(self) -> float:
        """C_D in loss = C_D D^-alpha_D as N -> infinity: C_N where N and D play the same part."""
        return self.model_constant()

    def limit_sums(self, xi: float) -> CountSums:
        """The sums of the scaling limit at xi, for the surface of counts."""
        raise InputError("inputs", self.kind, f"have no scaling limit at xi={xi:g}", "give SparseInputs")

    @property
    @abstractmethod
    def closed_form(self) -> ClosedForm:
        """Which loss surface describes them.

        ``counts``: how often each coordinate was seen decides, and the peak stands where N meets the
        coordinates seen. ``gaussian``: the variances alone decide, and the peak stands at N = D.
        """

    @property
    def closed_form_caution(self) -> str:
        """What to say beside every value of the surface; empty where it is proved."""
        return ""

    @abstractmethod
    def expected_seen(self, D: float) -> float:
        """E[K(D)]: coordinates that D samples show at least once."""

    @abstractmethod
    def asymptotic_seen(self, D: float) -> float:
        """The directions D samples can resolve, to leading order."""

    def corrected_condition(self, D: float) -> float:
        """The condition number that the rarest coordinate seen sets above the peak; 0 where it sets none."""
        del D
        return 0.0

    @property
    def has_power_activations(self) -> bool:
        """Whether activations are rare by power laws, which the failure of descent has exact forms for."""
        return False

    def power_activations(self) -> PowerActivations:
        """The power laws of rare activations, or a refusal where there are none."""
        raise InputError("inputs", self.kind, "have no rare activations with power laws", "give SparseInputs")

    @abstractmethod
    def variance_sums(self, size: float) -> VarianceSums:
        """Sums over the variances, for cut-offs near that of ``size`` resolved directions."""

    @abstractmethod
    def check_drawable(self) -> None:
        """Refuse inputs that no sample can be drawn of."""


def needed(given: Mapping[str, float], *names: str) -> list[float]:
    """The options of these names and of no others, or a refusal in one line."""
    for name in names:
        if name not in given:
            raise InputError(name, "", "is missing", f"give {name} (on the command line --{name})")
    for name in given:
        if name not in names:
            raise InputError(name, given[name], "does not describe these inputs", f"leave out {name}")
    return [given[name] for name in names]


def check_exponent(name: str, value: float) -> float:
    number = check_finite(name, value)
    if abs(number) > LARGEST_EXPONENT:
        raise InputError(
            name, value, f"is larger in size than {LARGEST_EXPONENT:g}", f"choose {name} within that range"
        )
    return number


def check_dimension(value: float) -> float:
    if isinstance(value, (int, float)) and value == math.inf:
        return math.inf
    return float(check_size("dimension", value))
