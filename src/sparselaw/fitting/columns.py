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
PASSED_OVER = {"loss": frozenset({"trainloss", "trainingloss"})}  # taken only when named; the reader is told
Aliases = Mapping[str, Iterable[str]]


def find_columns(
    columns: Iterable[str], given: Mapping[str, str] | None = None, more: Aliases | None = None
) -> dict[str, str]:
    """Role -> column for every role that is there. ``more`` has roles beyond the common ones, with aliases.

    >>> find_columns(["Model Size", "Training FLOP", "loss"])
    {'N': 'Model Size', 'loss': 'loss', 'C': 'Training FLOP'}
    """
    names = [str(c) for c in columns]
    given = dict(given or {})
    roles = _roles(more)
    _check_given(given, names, roles)
    found: dict[str, str] = {}
    for role in roles:
        if role in given:
            found[role] = given[role]
            continue
        candidates = _candidates(names, role, roles, taken=given.values())
        # The role's own name goes before all others, but not before itself in other letters.
        own = [n for n in candidates if _plain(n) == _plain(role)]
        candidates = own if role in own else candidates
        if len(candidates) > 1:
            raise InputError(
                "columns", ", ".join(candidates), f"could each be {role}", _say_which(candidates, role)
            )
        if candidates:
            found[role] = candidates[0]
    return found


def notes_on_columns(
    columns: Iterable[str], found: Mapping[str, str], given: Mapping[str, str] | None = None
) -> list[str]:
    """Where another column might have been meant: which was taken.

    >>> notes_on_columns(["N", "D", "val_loss", "train_loss"], {"loss": "val_loss"})
    ['loss is the column val_loss, not train_loss']
    """
    notes = []
    for role, taken in found.items():
        if role in (given or {}):
            continue
        others = [
            str(n)
            for n in columns
            if n not in found.values()
            and _plain(str(n)) in (ALIASES.get(role, frozenset()) | PASSED_OVER.get(role, frozenset()))
        ]
        if others:
            notes.append(f"{role} is the column {taken}, not {' or '.join(others)}")
    return notes


def _roles(more: Aliases | None) -> dict[str, frozenset[str]]:
    extra = {role: frozenset(_plain(name) for name in names) for role, names in (more or {}).items()}
    return {**ALIASES, **{role: names for role, names in extra.items() if role not in ALIASES}}


def _check_given(given: Mapping[str, str], names: list[str], roles: Iterable[str]) -> None:
    for role, name in given.items():
        if role not in roles:
            raise InputError("columns", role, "is not a role", f"name {', '.join(roles)} only")
        if name not in names:
            raise InputError("columns", f"{role}={name}", "is not in the table", there(names))
        others = [other for other in given if other != role and given[other] == name]
        if others:
            raise InputError(
                "columns",
                f"{role}={name},{others[0]}={name}",
                "is one column for two roles",
                "name two",
            )


def _candidates(
    names: list[str], role: str, roles: Mapping[str, frozenset[str]], taken: Iterable[str]
) -> list[str]:
    """Columns that may be meant; a name that stands twice in the header is there twice."""
    near = [n for n in names if n not in taken and (_plain(n) in roles[role] or _plain(n) == _plain(role))]
    return [n for n in near if _plain(n) not in FALLBACKS] or near


def _say_which(candidates: list[str], role: str) -> str:
    if len(set(candidates)) < len(candidates):
        return "rename one of them"
    return f"say which: columns {role}={candidates[0]}"


def missing_column(role: str, columns: Iterable[str]) -> InputError:
    return InputError("columns", listed(columns), f"no column for {role}", f"name it with columns {role}=...")


def there(names: Iterable[str]) -> str:
    """A remedy that lists the columns."""
    return f"the columns are {listed(names)}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first few of many names, so that the advice after them is still seen.

    >>> listed("abcdefghijkl")
    'a, b, c, d, e, f, g, h and 4 more'
    """
    shown = [str(name) for name in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more or "none"


def _plain(name: str) -> str:
    return "".join(ch for ch in name.lower() if ch.isalnum())
