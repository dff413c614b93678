"""Which column of a table is N, which D, which the loss: by its own name, by a common one, or as told."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from sparselaw.errors import InputError

# Compared without case, spaces, signs and unit; the role's own name is compared as it stands and goes first.
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
TRAINING = frozenset({"trainloss", "trainingloss"})  # a loss only where there is no other; the reader is told
# What the shape of a transformer is called.
SHAPE: dict[str, frozenset[str]] = {
    "width": frozenset({"width", "dmodel", "modeldim", "hiddensize", "hiddendim", "nembd", "dim"}),
    "depth": frozenset({"depth", "nlayers", "nlayer", "numlayers", "layers", "numhiddenlayers"}),
    "vocab": frozenset({"vocab", "vocabsize", "nvocab", "vocabulary", "vocabularysize"}),
    "non_embedding": frozenset(
        {
            "nonembeddingparams", "nonembeddingparameters", "paramsnonembedding", "nnonembedding",
            "nonembparams", "paramsnonemb", "nonembedding", "numnonembeddingparams",
        }
    ),
}  # fmt: skip
SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9, "g": 1e9,
          "t": 1e12, "trillion": 1e12, "1e3": 1e3, "1e6": 1e6, "1e9": 1e9, "1e12": 1e12}  # fmt: skip
_SCALE = r"(thousand|million|billion|trillion|1e3|1e6|1e9|1e12|k|m|b|g|t)s?\b"
_UNIT = rf"(?:x\s*|in\s+)?{_SCALE}(?:\s+(?:of\s+)?\w+)?"
IN_BRACKETS = re.compile(rf"^(.*?)[\s_]*[(\[]\s*{_UNIT}\s*[)\]]\s*$", re.IGNORECASE)
IN_WORDS = re.compile(r"^(.*?)[\s_]+(?:in[\s_]+)?(thousand|million|billion|trillion)s?$", re.IGNORECASE)
Aliases = Mapping[str, Iterable[str]]


def unit_of(column: str) -> tuple[str, float]:
    """The name without the unit it carries, and the unit.

    >>> unit_of("Tokens (B)"), unit_of("params_millions"), unit_of("loss")
    (('Tokens', 1000000000.0), ('params', 1000000.0), ('loss', 1.0))
    """
    for form in (IN_BRACKETS, IN_WORDS):
        found = form.match(column)
        if found is not None and found.group(1).strip():
            return found.group(1).strip(), SCALES[found.group(2).lower()]
    return column, 1.0


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
        own = [n for n in candidates if _letters(n) == _letters(role)]
        candidates = own if role in own else candidates
        if len(candidates) > 1:
            raise InputError(
                "columns", ", ".join(candidates), f"could each be {role}", _say_which(candidates, role)
            )
        if candidates:
            found[role] = candidates[0]
    return found


def find_shape(columns: Iterable[str]) -> dict[str, str]:
    """width, depth, vocab, non_embedding -> the one column that is called so, where there is one.

    >>> find_shape(["d_model", "n_layers", "loss"])
    {'width': 'd_model', 'depth': 'n_layers'}
    """
    names = [str(c) for c in columns]
    near = {role: [n for n in names if _letters(n) in known] for role, known in SHAPE.items()}
    return {role: found[0] for role, found in near.items() if len(found) == 1}


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
        if role == "loss" and _letters(taken) in TRAINING:
            notes.append(
                f"loss is the column {taken}, the only one: a training loss is not a held-out one where data "
                "are repeated"
            )
        known = ALIASES.get(role, frozenset()) | (TRAINING if role == "loss" else frozenset())
        others = [str(n) for n in columns if n not in found.values() and _letters(str(n)) in known]
        if others:
            notes.append(f"{role} is the column {taken}, not {' or '.join(others)}")
    return notes


def _roles(more: Aliases | None) -> dict[str, frozenset[str]]:
    extra = {role: frozenset(_letters(name) for name in names) for role, names in (more or {}).items()}
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
    near = [
        n for n in names if n not in taken and (_letters(n) in roles[role] or _letters(n) == _letters(role))
    ]
    if role == "loss" and not near:
        near = [n for n in names if n not in taken and _letters(n) in TRAINING]
    return [n for n in near if _letters(n) not in FALLBACKS] or near


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


@functools.lru_cache(maxsize=100_000)
def _letters(name: str) -> str:
    """Letters and digits alone, lower case, without a unit."""
    return "".join(ch for ch in unit_of(name)[0].lower() if ch.isalnum())
