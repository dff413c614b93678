"""What inputs must answer, and the one list of them. Nobody else asks which kind they are.

A new law is one file: a frozen record of its parameters, a subclass of ``Inputs`` or of ``ActivationInputs``,
and ``@register`` above it.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.gram.law import Atoms, GramLaw
from sparselaw.gram.nodes import CoordinateNodes, resolved_edge
from sparselaw.gram.spectrum import VarianceSums
from sparselaw.inputs.exponents import Exponents
from sparselaw.numbers import dimension as read_dimension
from sparselaw.numbers import typed
from sparselaw.registry import add, from_row, from_text, hints


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerActivations:
    """Coordinates 1, ..., ``dimension``: j is active with probability j^-decay, and then x_j^2 = j^growth."""

    decay: float  # alpha1 + 1
    growth: float  # -alpha2 - 1: above zero rare coordinates come with large amplitudes
    dimension: float


LARGEST_EXPONENT = 30.0
DEFAULT_DIMENSION = 10_000.0

Sampling = Literal["activations", "gaussian", "rows"]
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
        types = hints(cls)
        return cls(**{name: from_row(values[name], types[name]) for name in _fields(cls)})

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """What describes them on the command line, beside the dimension."""
        return tuple(name for name in _fields(cls) if name != "dimension")

    @classmethod
    def from_options(cls, given: Mapping[str, Any], dimension: float | None) -> Self:
        """The inputs that options describe: ``given`` has those that were named, read as numbers.

        A dimension of None is the usual one.
        """
        size = {} if dimension is None else {"dimension": dimension}
        return cls(**check_options({**given, **size}, _fields(cls), _needed_fields(cls)))

    @classmethod
    def written_as(cls) -> str:
        """What stands for them after --inputs, as --help shows it."""
        return cls.kind

    @classmethod
    def is_written(cls, text: str) -> bool:
        """Whether ``text`` after --inputs stands for them."""
        return text == cls.kind

    @classmethod
    def from_written(cls, text: str, given: Mapping[str, str], dimension: str | None) -> Inputs:
        """The inputs that ``text`` after --inputs stands for, with the options as they were typed."""
        del text
        types = hints(cls)
        values = {name: from_text(name, value, types.get(name, float)) for name, value in given.items()}
        return cls.from_options(values, read_dimension(dimension))

    def as_options(self) -> dict[str, Any]:
        """The options of the command line that describe them; those of their own accord are left out."""
        return {"inputs": self.kind} | self._told()

    def as_python(self) -> str:
        """The expression that makes them in Python, where the package is called sl."""
        shown = ", ".join(f"{name}={_python(value)}" for name, value in self._told().items())
        module = type(self).__module__
        return f"{'sl' if module.startswith('sparselaw.') else module}.{type(self).__name__}({shown})"

    def _told(self) -> dict[str, Any]:
        """The parameters, without the dimension where it is the usual one."""
        values = self.parameters()
        usual = {name: value for name, value in values.items() if name != "dimension"}
        return usual if type(self)(**usual) == self else values

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

    def scaling_limit(self, xi: float) -> Atoms:
        """The law of the Gram matrix in the scaling limit, for ratios D^(1/(alpha1+1))/N up to xi."""
        raise InputError("inputs", self.kind, f"have no scaling limit at xi={xi:g}", "give SparseInputs")

    def nodes(self, D: float) -> CoordinateNodes:
        """Coordinates that stand for all of them in D samples, where activations are counted."""
        raise InputError(
            "inputs", self.kind, f"have no counts of activations in {D:g} samples", "give SparseInputs"
        )

    def every_node(self, D: float) -> CoordinateNodes:
        """The same coordinate by coordinate, for finitely many."""
        return self.nodes(D)

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
    def gram(self, D: float, *, sharp: bool = True) -> GramLaw:
        """The law of the Gram matrix of D samples: the one way by which inputs enter the theory.

        Parameters
        ----------
        D
            The number of samples, a real number of at least one.
        sharp
            Whether samples that show several coordinates, and terms of order 1/D, are taken into account.

        Returns
        -------
        GramLaw
            S, t, their scatter over data sets and the rank, as functions of the effective ridge.
        """

    @abstractmethod
    def population(self, D: float) -> Atoms:
        """The coordinates themselves, for one pass over D fresh samples: g is the variance of each.

        Parameters
        ----------
        D
            The number of samples, which says how faint coordinates may be that still matter.

        Returns
        -------
        Atoms
            Variances, and the curvature that one sample shows of each.
        """

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
    def no_spike(self) -> str:
        """Why the failure of descent has no exponent nu, where it has none."""
        return "no spike is known: these inputs follow no power law"

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


KINDS: dict[str, type[Inputs]] = {}
SomeInputs = TypeVar("SomeInputs", bound=type[Inputs])


def register(kind: SomeInputs) -> SomeInputs:
    """Make a new kind of inputs known to the command line and to stores. Also a decorator."""
    add(KINDS, "inputs", kind.kind, kind)
    return kind


def _python(value: Any) -> str:
    if value == math.inf:
        return 'float("inf")'
    return repr(value) if isinstance(value, str) else typed(value)


def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


def _needed_fields(kind: Any) -> tuple[str, ...]:
    """Those without a value of their own accord."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    missing = dataclasses.MISSING
    return tuple(f.name for f in fields if f.default is missing and f.default_factory is missing)


def needed(given: Mapping[str, Any], *names: str) -> list[Any]:
    """The options of these names and of no others, or a refusal in one line."""
    return [check_options(given, names, names)[name] for name in names]


def check_options(
    given: Mapping[str, Any], allowed: Sequence[str], required: Sequence[str]
) -> dict[str, Any]:
    """The options, where none is missing and none is of other inputs."""
    for name in required:
        if name not in given:
            option = name.replace("_", "-")
            raise InputError(name, "", "is missing", f"give {name} (on the command line --{option})")
    for name in given:
        if name not in allowed:
            raise InputError(name, given[name], "does not describe these inputs", f"leave out {name}")
    return dict(given)


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


def kind_of(name: str) -> type[Inputs]:
    """The class of a kind of inputs by its name."""
    if name not in KINDS:
        raise InputError("inputs", name, "is not one of the choices", f"choose {' or '.join(KINDS)}")
    return KINDS[name]


def written_kind(text: str) -> type[Inputs]:
    """The class of what was written after --inputs: a name, or the path of a measurement."""
    return next((kind for kind in KINDS.values() if kind.is_written(text)), None) or kind_of(text)


def written_inputs(text: str, given: Mapping[str, str], dimension: str | None = None) -> Inputs:
    """The inputs of what was written after --inputs, and of the options beside it.

    >>> written_inputs("dense", {"alpha": "2.3"}, "100")
    DenseInputs(alpha=2.3, dimension=100.0)
    """
    return written_kind(text).from_written(text, given, dimension)


def inputs_of(kind: str, values: Mapping[str, Any]) -> Inputs:
    """The inputs that an identity or a row of runs describes.

    >>> inputs_of("dense", {"alpha": 2.3, "dimension": 100})
    DenseInputs(alpha=2.3, dimension=100.0)
    """
    return kind_of(kind).from_parameters(values)


def check_inputs(value: Any) -> Inputs:
    """``value`` if it describes inputs."""
    if not isinstance(value, Inputs):
        raise InputError(
            "inputs",
            repr(value)[:60],
            "describes no inputs",
            "give SparseInputs, DenseInputs, TabulatedInputs or EmpiricalInputs",
        )
    return value
