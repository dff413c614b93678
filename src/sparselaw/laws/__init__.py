"""Scaling laws as records: parameters in, loss out. One file each; a new one is registered below.

>>> LAWS["two-power"].parameters()
('A', 'B', 'alpha_N', 'alpha_D')
"""

from __future__ import annotations

from typing import TypeVar

from sparselaw.errors import InputError
from sparselaw.laws.base import ANY_SIZE, Law, Term
from sparselaw.laws.chinchilla import ChinchillaLaw
from sparselaw.laws.coupled import CoupledLaw
from sparselaw.laws.data_constrained import DataConstrainedLaw
from sparselaw.laws.kaplan import KaplanLaw
from sparselaw.laws.one_exponent import OneExponentLaw
from sparselaw.laws.power import PowerLaw
from sparselaw.laws.ranges import Range
from sparselaw.laws.surface_law import SurfaceLaw
from sparselaw.laws.two_power import TwoPowerLaw

__all__ = [
    "ANY_SIZE",
    "LAWS",
    "ChinchillaLaw",
    "CoupledLaw",
    "DataConstrainedLaw",
    "KaplanLaw",
    "Law",
    "OneExponentLaw",
    "PowerLaw",
    "Range",
    "SurfaceLaw",
    "Term",
    "TwoPowerLaw",
    "law_named",
    "one_size_laws",
    "register",
    "two_exponent_laws",
]

LAWS: dict[str, type[Law]] = {}
SomeLaw = TypeVar("SomeLaw", bound=type[Law])


def register(law: SomeLaw) -> SomeLaw:
    """Makes a law known by its name, in Python and on the command line. Also a decorator."""
    name, parameters = law.name, set(law.parameters())
    if LAWS.get(name, law) is not law:
        raise InputError("law", name, "is the name of another law", "choose another name")
    named = {n for term in law.terms for n in (term.coefficient, term.exponent) if n is not None}
    if parameters != (named if law.terms else set(law.ranges)):
        raise InputError(
            "law", name, "does not say how every parameter is fitted", "give it terms, or ranges for all"
        )
    LAWS[name] = law
    return law


def law_named(name: str) -> type[Law]:
    """The law of that name, or a line that lists those there are."""
    if name not in LAWS:
        raise InputError("law", name, "is not one of the laws", f"choose {' or '.join(LAWS)}")
    return LAWS[name]


def two_exponent_laws() -> str:
    """The laws that trade N against D, for a remedy: "chinchilla or two-power"."""
    traded = (name for name, law in LAWS.items() if law.exponent_names and law.sizes == ("N", "D"))
    return " or ".join(traded)


def one_size_laws() -> str:
    """The laws of whichever size varies, for a remedy."""
    return " or ".join(name for name, law in LAWS.items() if law.has_one_size())


register(ChinchillaLaw)
register(TwoPowerLaw)
register(PowerLaw)
register(CoupledLaw)
register(KaplanLaw)
register(OneExponentLaw)
register(DataConstrainedLaw)
register(SurfaceLaw)
