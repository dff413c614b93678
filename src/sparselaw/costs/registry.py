"""The costs by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparselaw.costs.base import Conditioning, Cost, CostTerm
from sparselaw.errors import InputError, check_finite

Terms = tuple[CostTerm, ...]
LARGEST_PARAMETER = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """A cost before it is applied to inputs or to a law.

    ``terms`` is called with the conditioning where ``needs_sparsity``, with the number after the colon where
    the cost has a ``parameter`` (power:r), and otherwise with nothing.
    """

    name: str
    terms: Callable[..., Terms]
    formula: str = ""
    needs_sparsity: bool = False
    parameter: str = ""

    @property
    def written(self) -> str:
        """How it is written on the command line."""
        return f"{self.name}:{self.parameter}" if self.parameter else self.name


COSTS: dict[str, CostModel] = {}


def register(
    name: str,
    terms: Callable[..., Terms],
    *,
    formula: str = "",
    needs_sparsity: bool = False,
    parameter: str = "",
) -> CostModel:
    """Adds a cost to those that `frontier`, `plan` and the command line know."""
    if name != name.strip().lower() or not name or ":" in name:
        raise InputError("cost", name, "is not a plain name", "use lower case, no colon and no spaces around")
    if name in COSTS:
        raise InputError("cost", name, "is already registered", "choose another name")
    model = CostModel(
        name=name, terms=terms, formula=formula, needs_sparsity=needs_sparsity, parameter=parameter
    )
    COSTS[name] = model
    return model


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
