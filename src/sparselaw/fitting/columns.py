"""Which column of a table is N, which D, which the loss: by its own name, by a common one, or as told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparselaw.errors import InputError

# Compared without case, spaces and signs; the role's own name is compared as it stands and goes first.
ALIASES: dict[str, frozenset[str]] = {
    "N": frozenset(
        {
            "params", "parameters", "nparams", "nparameters", "numparams", "numparameters", "modelsize",
            "modelparams", "modelparameters", "paramcount", "parametercount", "paramsactiveprecise", "width",
        }
    ),
    "D": frozenset(
        {
            "tokens", "ntokens", "numtokens", "trainingtokens", "traintokens", "tokensseen", "samples",
            "nsamples", "numsamples", "trainingsamples", "dataset", "datasetsize", "datasize", "examples",
        }
    ),
    "loss": frozenset(
        {
            "finalloss", "testloss", "valloss", "validationloss", "evalloss", "meanloss", "mean",
            "populationloss", "heldoutloss",
        }
    ),
    "C": frozenset(
        {"flops", "flop", "compute", "trainingflop", "trainingflops", "trainflops", "totalflops", "budget"}
    ),
    "stderr": frozenset({"standarderror", "lossstderr", "sem", "losssem", "stderror", "lossstandarderror"}),
}  # fmt: skip
FALLBACKS = frozenset({"width", "dataset", "samples"})  # taken only where no better name is there


def find_columns(columns: Iterable[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Role -> column for every role that is there.

    >>> find_columns(["Model Size", "Training FLOP", "loss"])
    {'N': 'Model Size', 'loss': 'loss', 'C': 'Training FLOP'}
    """
    names = [str(c) for c in columns]
    given = dict(given or {})
    for role, name in given.items():
        if role not in ALIASES:
            raise InputError("columns", role, "is not a role", f"name {', '.join(ALIASES)} only")
        if name not in names:
            raise InputError("columns", f"{role}={name}", "is not in the table", _there(names))
    found: dict[str, str] = {}
    for role, aliases in ALIASES.items():
        if role in given:
            found[role] = given[role]
        elif role in names:
            found[role] = role
        else:
            free = [n for n in names if n not in given.values()]
            near = [n for n in free if _plain(n) in aliases or _plain(n) == _plain(role)]
            near = [n for n in near if _plain(n) not in FALLBACKS] or near
            if len(near) > 1:
                raise InputError(
                    "columns",
                    ", ".join(near),
                    f"could each be {role}",
                    f"say which: columns {role}={near[0]}",
                )
            if near:
                found[role] = near[0]
    return found


def missing_column(role: str, columns: Iterable[str]) -> InputError:
    names = [str(c) for c in columns]
    return InputError(
        "columns", ",".join(names) or "none", f"no column for {role}", f"name it with columns {role}=..."
    )


def _there(names: list[str]) -> str:
    return f"the columns are {', '.join(names)}"


def _plain(name: str) -> str:
    return "".join(ch for ch in name.lower() if ch.isalnum())
