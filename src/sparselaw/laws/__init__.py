"""Scaling laws as records: parameters in, loss out. One file each; ``base`` says what a law answers.

>>> LAWS["two-power"].parameters()
('A', 'B', 'alpha_N', 'alpha_D')
"""

from __future__ import annotations

from sparselaw.errors import InputError
from sparselaw.laws.base import ANY_SIZE, LAWS, Law, Term, register
from sparselaw.laws.coupled import CoupledLaw
from sparselaw.laws.data_constrained import DataConstrainedLaw
from sparselaw.laws.kaplan import KaplanLaw
from sparselaw.laws.ranges import Range
from sparselaw.laws.sums_of_powers import ChinchillaLaw, OneExponentLaw, PowerLaw, TwoPowerLaw
from sparselaw.laws.surface_law import SurfaceLaw

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


# Not above the classes: some laws import others, and the list has an order of its own.
for _law in (
    ChinchillaLaw,
    TwoPowerLaw,
    PowerLaw,
    CoupledLaw,
    KaplanLaw,
    OneExponentLaw,
    DataConstrainedLaw,
    SurfaceLaw,
):
    register(_law)
