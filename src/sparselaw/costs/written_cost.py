"""A cost from what was written: its name, and after a colon its number."""

from __future__ import annotations

from sparselaw.costs.base import COSTS, Conditioning, Cost
from sparselaw.errors import InputError, check_finite

LARGEST_PARAMETER = 100.0


def cost_names() -> tuple[str, ...]:
    """All costs as they are written.

    >>> cost_names()[:2]
    ('direct', '6nd')
    """
    return tuple(model.written for model in COSTS.values())


def parse_cost(text: str, conditioning: Conditioning | None = None) -> Cost:
    """The cost named ``text``. One that depends on the condition number needs the conditioning.

    >>> parse_cost("power:1.5").terms[0].N_power
    1.5
    """
    written = str(text).strip().lower()
    name, colon, value = written.partition(":")
    model = COSTS.get(name)
    if model is None or (colon and not model.parameter):
        raise InputError("cost", text, "is not one of the costs", f"choose {', '.join(cost_names())}")
    arguments: list[Conditioning | float] = []
    if model.needs_sparsity:
        if conditioning is None:
            free = ", ".join(other.written for other in COSTS.values() if not other.needs_sparsity)
            raise InputError("cost", text, "needs alpha1 and alpha2", f"give sparse inputs, or choose {free}")
        arguments.append(conditioning)
    if model.parameter:
        arguments.append(_parameter(text, name, value))
    return Cost(name=written, terms=model.terms(*arguments))


def _parameter(text: str, name: str, value: str) -> float:
    remedy = f"write {name}:2"
    try:
        number = check_finite("cost", float(value))
    except (ValueError, InputError):
        raise InputError("cost", text, f"is not {name}:<number>", remedy) from None
    if not 0.0 < number <= LARGEST_PARAMETER:
        condition = f"the number must be positive and at most {LARGEST_PARAMETER:g}"
        raise InputError("cost", text, condition, remedy)
    return number
