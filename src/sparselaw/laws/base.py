"""What a law must answer: its names, its formula, its floor and exponents, and how it is fitted.

A law is a frozen record of its parameters. Its loss is a plain formula, so numbers and arrays pass through,
in the sizes as well as in the parameters: a record of (draws, 1) parameters gives (draws, points) losses.

How it is fitted follows from what it declares. With ``terms`` it is a sum of powers of single sizes, and the
minimiser has exact derivatives of it. Without, ``ranges`` says where each parameter may
lie and where to start, and the formula itself is followed downhill, with the derivatives that ``log_slopes``
gives or else with numerical ones.

A new law is one file: such a record, and ``@register`` above it.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

from sparselaw.errors import InputError
from sparselaw.laws.ranges import Range, TermUnit, floor
from sparselaw.records import latex_formula
from sparselaw.registry import add

if TYPE_CHECKING:
    from sparselaw.laws.data_constrained import DataConstrainedLaw

FURTHEST = 1e174  # a coefficient at the centre of the runs, over the median loss
FURTHEST_FLOOR = 1.5e-8  # of the smallest loss: zero for any purpose
ANY_SIZE = "x"  # stands for whichever size varies, in a law of one size


@dataclass(frozen=True, slots=True)
class Term:
    """coefficient * size^-exponent, each a name; without a size, the coefficient alone."""

    coefficient: str
    size: str | None = None
    exponent: str | None = None


class LogSlopes(NamedTuple):
    """log loss (thetas, rows), its first derivatives (thetas, rows, p) and second (thetas, rows, p, p).

    By the logarithms of the parameters, in their order; of the second the lower triangle is enough.
    """

    log_loss: Any
    first: Any
    second: Any


class Law(ABC):
    """Subclasses are frozen dataclasses; their fields are the parameters, in the order they are reported."""

    __slots__ = ()

    name: ClassVar[str]
    formula: ClassVar[str]
    sizes: ClassVar[tuple[str, ...]] = ("N", "D")  # the columns ``loss`` takes, in its order
    terms: ClassVar[tuple[Term, ...]] = ()
    ranges: ClassVar[Mapping[str, Range]] = {}
    floor_name: ClassVar[str | None] = None  # the parameter that is the loss of infinite sizes
    exponent_names: ClassVar[tuple[str, str] | None] = None  # of N and of D, where the law has both
    sparsity_names: ClassVar[tuple[str, str] | None] = None  # alpha1 and alpha2, where they are parameters
    coupling_name: ClassVar[str | None] = None  # the parameter that joins the terms of N and D; 1 is a sum
    read_beside: ClassVar[str | None] = None  # the name of a law by which the sparsity is read as well
    read_first: ClassVar[bool] = False  # whether its own reading of the sparsity stands before that one
    compared: ClassVar[bool] = True  # among all laws; False for a law of simulated runs
    column_names: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # other names for sizes beyond N and D

    def __init_subclass__(cls) -> None:
        """A sum of powers is searched with exponents on a linear scale; that of one may be negative."""
        if "terms" not in vars(cls) or "ranges" in vars(cls):
            return
        found: dict[str, Range] = {}
        for term in cls.terms:
            if term.size is None or term.exponent is None:
                found[term.coefficient] = replace(floor(), low=FURTHEST_FLOOR)
            else:
                unit = TermUnit(term.size, term.exponent)
                found[term.coefficient] = Range(low=1 / FURTHEST, high=FURTHEST, unit=unit, vanishes=True)
                low = 1e-3 if len(cls.terms) > 1 else -30.0
                found[term.exponent] = Range(low=low, high=30.0, linear=True)
        cls.ranges = found

    @abstractmethod
    def loss(self, *sizes: Any) -> Any:
        """The loss at the sizes named in ``sizes``, in that order."""

    def log_slopes(self, *sizes: Any) -> LogSlopes | None:  # noqa: ARG002
        """The derivatives of log loss where the law knows them; parameters are arrays (thetas, 1)."""
        return None

    def on_repeated_data(self) -> tuple[DataConstrainedLaw, str] | None:
        """The law of D samples of which U are unique, and what it supposes; None where there is none."""
        return None

    def starts_beside(self) -> tuple[Law, ...]:
        """Where the law read beside this one starts from its optimum; none: from starts of its own."""
        return ()

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(field.name for field in dataclasses.fields(cast(Any, cls)))

    @classmethod
    def has_one_size(cls) -> bool:
        """Is it a law of whichever size varies? Then runs that share the other sizes form a sweep."""
        return cls.sizes == (ANY_SIZE,)

    def _repr_latex_(self) -> str:
        return f"${latex_formula(self.formula)}$"

    @property
    def floor(self) -> Any:
        """The loss that no size removes; zero where the law has none."""
        return 0.0 if self.floor_name is None else getattr(self, self.floor_name)

    @property
    def exponents(self) -> tuple[Any, Any] | None:
        """(alpha_N, alpha_D) of the loss above its floor, or None."""
        if self.exponent_names is None:
            return None
        of_N, of_D = self.exponent_names
        return getattr(self, of_N), getattr(self, of_D)

    def loss_of_logs(self, *log_sizes: Any) -> Any:
        """The loss where sizes are given by their logarithms: no rounding trip for a search along them."""
        import numpy as np

        if not self.terms:
            return self.loss(*(np.exp(x) for x in log_sizes))
        total: Any = 0.0
        for term in self.terms:
            value = getattr(self, term.coefficient)
            if term.size is not None and term.exponent is not None:
                x = log_sizes[self.sizes.index(term.size)]
                value = value * np.exp(-getattr(self, term.exponent) * x)
            total = total + value
        return total


LAWS: dict[str, type[Law]] = {}
SomeLaw = TypeVar("SomeLaw", bound=type[Law])


def register(law: SomeLaw) -> SomeLaw:
    """Makes a law known by its name, in Python and on the command line. Also a decorator."""
    if set(law.parameters()) != set(law.ranges):
        condition = "does not say how every parameter is fitted"
        raise InputError("law", law.name, condition, "give it terms, or ranges for all")
    add(LAWS, "law", law.name, law)
    return law


def real(x: Any) -> Any:
    """Integers to a negative power are an error in numpy; 1.0 * x makes both scalars and arrays real."""
    return 1.0 * x
