"""What inputs must answer, and the one list of them. Nobody else asks which kind they are.

A new law is one file: a frozen record of its parameters, a subclass of ``Inputs`` or of ``ActivationInputs``,
and ``@register`` above it.

``Exponents`` has those of the paper, and the regimes of its phase diagram (figure 1).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_choice, check_finite, check_size
from sparselaw.gram.law import Atoms, GramLaw
from sparselaw.gram.nodes import resolved_edge
from sparselaw.gram.side_by_side import Several
from sparselaw.numbers import dimension as read_dimension
from sparselaw.records import html_record
from sparselaw.registry import add, from_row, from_text, hints

Regime = Literal["symmetric", "asymmetric", "gd-failure"]
Sampling = Literal["activations", "gaussian", "rows"]

LARGEST_EXPONENT = 30.0
DEFAULT_DIMENSION = 10_000.0
DEFAULT_KIND = "sparse"  # of the command line, where --inputs is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponents:
    """What the paper predicts for one pair (alpha1, alpha2), or for dense inputs.

    ``nu`` is None where gradient descent has no spike to fail on (alpha2 >= -1).
    """

    regime: Regime
    alpha_N: float  # loss ~ N^-alpha_N, prop:underparam
    alpha_D: float  # loss ~ D^-alpha_D, thm:over-scaling
    alpha_C: float  # loss ~ C^-alpha_C at C = N D min(N, D), prop:compute-optimal
    xi_crit: float  # the double-descent peak: N = K(D) when alpha1 > 0, N = D otherwise
    nu: float | None  # P(gradient descent diverges) ~ D^-nu, thm:gd_failure_scaling
    seen_exponent: float = 1.0  # K(D) ~ seen_constant D^seen_exponent directions are resolved, eq:K-of-D
    seen_constant: float = 1.0

    @property
    def spectrum(self) -> float:
        """The decay a of the variances j^-a of the coordinates."""
        return self.alpha_N + 1.0

    @property
    def model_constant(self) -> float:
        """C_N in loss = C_N N^-alpha_N as D -> infinity: ((pi/a)/sin(pi/a))^a."""
        return math.pow(resolved_edge(self.spectrum), self.spectrum)

    @property
    def data_constant(self) -> float:
        """C_D in loss = C_D D^-alpha_D as N -> infinity, from the integral eq:bayes-integral-over.

        Gamma(alpha_D)/(alpha1+1) for alpha1 > 0; C_N where N and D play the same part.

        >>> law = sparse_exponents(1.0, 0.3)
        >>> round(law.model_constant, 3), round(law.data_constant, 3)
        (1.673, 0.467)
        """
        if self.alpha_D == self.alpha_N:
            return self.model_constant
        return math.gamma(self.alpha_D) * self.seen_exponent

    def xi(self, N: float, D: float) -> float:
        """D^(alpha_D/alpha_N) / N: D^(1/(alpha1+1))/N for alpha1 > 0, D/N otherwise."""
        return math.exp(math.log(D) * self.alpha_D / self.alpha_N - math.log(N))

    def as_dict(self) -> dict[str, Any]:
        """Plain values; nu is None where there is no spike."""
        return {name: getattr(self, name) for name in self.__slots__}

    def _repr_html_(self) -> str:
        return html_record("exponents", self.as_dict())


def sparse_exponents(alpha1: float, alpha2: float) -> Exponents:
    """The exponents of sparse inputs.

    >>> round(sparse_exponents(1.0, 0.3).alpha_D, 12)
    1.15
    """
    alpha_N = alpha1 + alpha2 + 1.0
    symmetric, fails = alpha1 <= 0.0, alpha2 < -1.0
    alpha_D = alpha_N if symmetric else alpha_N / (alpha1 + 1.0)
    seen_exponent, seen_constant = seen_law(alpha1)
    share = alpha1 / (1.0 + alpha1) if not symmetric else 1.0
    return Exponents(
        regime="gd-failure" if fails else "symmetric" if symmetric else "asymmetric",
        alpha_N=alpha_N,
        alpha_D=alpha_D,
        alpha_C=compute_exponent(alpha_N, alpha_D),
        xi_crit=share / math.gamma(1.0 + share),  # 1/Gamma(share), where that is too large a number too
        nu=alpha_N / (-alpha2 - 1.0) if fails else None,
        seen_exponent=seen_exponent,
        seen_constant=seen_constant,
    )


def seen_law(alpha1: float) -> tuple[float, float]:
    """(s, g) of K(D) ~ g D^s (eq:K-of-D); for alpha1 <= 0 every coordinate is seen and K(D) stands for D.

    >>> s, g = seen_law(1.0)
    >>> s, round(g**2, 12) == round(math.pi, 12)
    (0.5, True)
    """
    s = 1.0 / (alpha1 + 1.0) if alpha1 > 0.0 else 1.0
    return (s, math.gamma(1.0 - s)) if s < 1.0 else (1.0, 1.0)


def compute_exponent(alpha_N: float, alpha_D: float, r: float = 2.0) -> float:
    """alpha_C for the budget C = N^r D: both terms of the loss balanced (app:optimal-derivation, r = 2)."""
    return alpha_N * alpha_D / (alpha_N + r * alpha_D)


def no_spike(law: Exponents | None) -> str:
    """Why the failure of descent has no exponent nu, where it has none."""
    if law is None:
        return "no spike is known: these inputs follow no power law"
    return "no spike: rare coordinates are large only where alpha2 < -1; dense ones are always active"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerActivations:
    """Coordinates 1, ..., ``dimension``: j is active with probability j^-decay, and then x_j^2 = j^growth."""

    decay: float  # alpha1 + 1
    growth: float  # -alpha2 - 1: above zero rare coordinates come with large amplitudes
    dimension: float


class Inputs(ABC):
    """The law of one sample x: coordinates j = 1, 2, ..., ``dimension``, of mean zero and uncorrelated."""

    __slots__ = ()

    kind: ClassVar[str]  # the name on the command line, in tables and in stores
    options: ClassVar[tuple[str, ...]] = ()  # of sparse inputs, which describe those of the same variances
    suffixes: ClassVar[tuple[str, ...]] = ()  # of the files that ``from_file`` reads, where there is one
    sampling: ClassVar[Sampling]  # how a sample is drawn: rare coordinates, or all of them, Gaussian
    dimension: float
    source: str  # of those that were read: the path

    def parameters(self) -> dict[str, Any]:
        """The record as plain values: with ``kind`` it is the identity."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> Self:
        """Back from the identity, or from the row of a table that has more columns than it needs."""
        types = hints(cls)
        return cls(**{name: from_row(values[name], types[name]) for name in _fields(cls)})

    @abstractmethod
    def variances(self, j: FloatArray) -> FloatArray:
        """E x_j^2."""

    @property
    def exponents(self) -> Exponents | None:
        """What the loss falls with, or None where no power law holds."""
        return None

    def power_law(self) -> Exponents:
        """The exponents, or a refusal where there are none."""
        if self.exponents is None:
            raise InputError("inputs", self.kind, "follow no power law", "give SparseInputs or DenseInputs")
        return self.exponents

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

    def grams(self, D: FloatArray, *, sharp: bool = True) -> GramLaw:
        """The laws of several D side by side, each asked at its own x."""
        return Several([self.gram(d, sharp=sharp) for d in D.tolist()])

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

    @property
    def has_power_activations(self) -> bool:
        """Whether activations are rare by power laws, which the failure of descent has exact forms for."""
        return False

    def power_activations(self) -> PowerActivations:
        """The power laws of rare activations, or a refusal where there are none."""
        raise InputError("inputs", self.kind, "have no rare activations with power laws", "give SparseInputs")

    @abstractmethod
    def check_drawable(self) -> None:
        """Refuse inputs that no sample can be drawn of."""


class GivenInputs(Inputs):
    """Inputs that arrays describe: a digest of these is their identity, where the process has had them."""

    __slots__ = ("_arrays", "digest", "dimension", "source")

    content: ClassVar[str]  # what the arrays are, as the identity calls it
    kept: ClassVar[dict[str, tuple[Any, ...]]] = {}  # arrays by digest: what an identity stands for

    def _keep(self, arrays: tuple[Any, ...], digest: str, dimension: int, source: str) -> None:
        self._arrays, self.digest, self.dimension, self.source = arrays, digest, float(dimension), source
        self.kept[digest] = arrays

    def parameters(self) -> dict[str, Any]:
        return {self.content: self.digest, "dimension": self.dimension}

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> Self:
        """Back from the identity, in a process that has had the arrays."""
        digest = str(values[cls.content])
        if digest not in cls.kept:
            condition, remedy = f"is a {cls.content} that is not at hand", f"give the {cls.content} again"
            raise InputError("inputs", f"{cls.kind} {digest}", condition, remedy)
        return cls(*cls.kept[digest])

    def __reduce__(self) -> tuple[Any, ...]:
        again: Any = type(self)
        return functools.partial(again, source=self.source), self._arrays

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenInputs) and self.digest == other.digest


KINDS: dict[str, type[Inputs]] = {}
SomeInputs = TypeVar("SomeInputs", bound=type[Inputs])


def register(kind: SomeInputs) -> SomeInputs:
    """Make a new kind of inputs known to the command line and to stores. Also a decorator."""
    add(KINDS, "inputs", kind.kind, kind)
    return kind


def _fields(kind: Any) -> dict[str, bool]:
    """The fields of inputs, and whether each must be given."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return {f.name: f.default is dataclasses.MISSING is f.default_factory for f in fields}


def option_names(kind: type[Inputs]) -> tuple[str, ...]:
    """What describes inputs of this kind on the command line, beside the dimension."""
    return (*kind.options, *(name for name in _fields(kind) if name != "dimension"))


def _described(kind: Any, given: Mapping[str, Any]) -> Inputs:
    """The inputs that options describe, where none is missing and none is of other inputs."""
    by_sparse = bool(kind.options) and "alpha" not in given  # those of the same variances
    allowed = {**dict.fromkeys(kind.options, True), "dimension": False} if by_sparse else _fields(kind)
    for name in (name for name, required in allowed.items() if required and name not in given):
        option = name.replace("_", "-")
        raise InputError(name, "", "is missing", f"give {name} (on the command line --{option})")
    for name in (name for name in given if name not in allowed):
        raise InputError(name, given[name], "does not describe these inputs", f"leave out {name}")
    described: dict[str, Any] = dict(given)
    if by_sparse:
        sparse = KINDS["sparse"](**{name: described.pop(name) for name in kind.options})
        described["alpha"] = sparse.power_law().alpha_N
    found: Inputs = kind(**described)
    return found


def check_exponent(name: str, value: float) -> float:
    """``value`` as an exponent whose powers do not overflow."""
    number = check_finite(name, value)
    if abs(number) > LARGEST_EXPONENT:
        condition = f"is larger in size than {LARGEST_EXPONENT:g}"
        raise InputError(name, value, condition, f"choose {name} within that range")
    return number


def check_dimension(value: float) -> float:
    """``value`` as a number of coordinates, which may be infinite."""
    if isinstance(value, (int, float)) and value == math.inf:
        return math.inf
    return float(check_size("dimension", value))


def kind_of(name: str) -> type[Inputs]:
    """The class of a kind of inputs by its name."""
    return KINDS[check_choice("inputs", name, KINDS)]


def written_kind(text: str) -> type[Inputs]:
    """The class of what was written after --inputs: a name, or the path of a file."""
    read = (kind for kind in KINDS.values() if kind.suffixes and text.lower().endswith(kind.suffixes))
    return next(read, None) or kind_of(text)


def written_inputs(text: str, given: Mapping[str, str], dimension: str | None = None) -> Inputs:
    """The inputs of what was written after --inputs, and of the options beside it.

    >>> written_inputs("dense", {"alpha": "2.3"}, "100")
    DenseInputs(alpha=2.3, dimension=100.0)
    """
    kind = written_kind(text)
    if text != kind.kind:
        for name, value in {**given, **({} if dimension is None else {"dimension": dimension})}.items():
            raise InputError(name, value, f"does not describe the inputs of {text}", f"leave out --{name}")
        found: Inputs = kind.from_file(text)  # type: ignore[attr-defined]  # those with suffixes have it
        return found
    if kind.suffixes:
        raise InputError("inputs", text, "needs a file", f"give its path: --inputs x{kind.suffixes[0]}")
    types = hints(kind)
    values = {name: from_text(name, value, types.get(name, float)) for name, value in given.items()}
    size = read_dimension(dimension)
    return _described(kind, values if size is None else {**values, "dimension": size})


def inputs_of(kind: str, values: Mapping[str, Any]) -> Inputs:
    """The inputs that an identity or a row of runs describes.

    >>> inputs_of("dense", {"alpha": 2.3, "dimension": 100})
    DenseInputs(alpha=2.3, dimension=100.0)
    """
    return kind_of(kind).from_parameters(values)


def check_inputs(value: Any) -> Inputs:
    """``value`` if it describes inputs."""
    if not isinstance(value, Inputs):
        remedy = "give SparseInputs, DenseInputs, TabulatedInputs or EmpiricalInputs"
        raise InputError("inputs", repr(value)[:60], "describes no inputs", remedy)
    return value
