"""The laws that were fitted on the page, found again by the key of their upload.

A page keeps few of them; what they were fitted with is kept beside them, so that their code can be shown.
"""

from __future__ import annotations

import json
import shlex
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.explore.call import shell
from sparselaw.laws import ChinchillaLaw

if TYPE_CHECKING:
    from sparselaw.explore.call import Call
    from sparselaw.explore.session import Session
    from sparselaw.fitting import FittedLaw

MOST_KEPT = 8
_FITS: weakref.WeakKeyDictionary[Session, OrderedDict[str, FittedLaw]] = weakref.WeakKeyDictionary()


def keep(call: Call, fitted: FittedLaw) -> None:
    """The latest fit of the call's upload and settings takes the place of the one before."""
    fits = _FITS.setdefault(call.session, OrderedDict())
    fits[_key(call)] = fitted
    fits.move_to_end(_key(call))
    while len(fits) > MOST_KEPT:
        fits.popitem(last=False)


def fitted_of(call: Call) -> tuple[FittedLaw, str, str]:
    """The fit that the call means, the name of its file for the shell, and the Python that makes it."""
    found = _FITS.get(call.session, OrderedDict()).get(_key(call))
    if found is None:
        raise InputError("runs", "", "no law is fitted yet", "drop a table of runs on the page Your runs")
    return found, file_name(call), fit_python(call)


def file_name(call: Call) -> str:
    """The person's own name of the file, without its folders: for code only, never opened."""
    return call.text("file_name", "runs.csv").replace("\\", "/").split("/")[-1][:80] or "runs.csv"


def columns_of(call: Call) -> dict[str, str] | None:
    """Columns that the person chose from the menus: col_N, col_D, ..."""
    roles = ("N", "D", "loss", "C")
    return {role: call.text(f"col_{role}") for role in roles if call.text(f"col_{role}")} or None


def fit_options(call: Call) -> dict[str, Any]:
    columns = columns_of(call)
    return {
        "law": call.text("law", "chinchilla"),
        "columns": None if columns is None else ",".join(f"{role}={name}" for role, name in columns.items()),
    }


def fit_shell(call: Call) -> str:
    options = {name: value for name, value in fit_options(call).items() if value}
    return f"{shell('fit', **options)} {shlex.quote(file_name(call))}"


def fit_python(call: Call) -> str:
    columns = columns_of(call)
    extra = "" if columns is None else f", columns={columns!r}"
    law = call.text("law", "chinchilla")
    return f'import sparselaw as sl\n\nlaw = sl.fit({file_name(call)!r}, law="{law}"{extra})'


def _key(call: Call) -> str:
    return json.dumps([call.text("upload"), call.text("law", "chinchilla"), columns_of(call)], sort_keys=True)


LAW = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)


def sample_csv() -> bytes:
    """params, tokens and val_loss of 48 runs."""
    rng = np.random.default_rng(7)
    lines = ["params,tokens,val_loss"]
    for N in np.geomspace(1e7, 3e9, 8):
        for ratio in (3.0, 10.0, 20.0, 40.0, 80.0, 160.0):
            D = ratio * N
            loss = LAW.loss(N, D) * np.exp(0.006 * rng.standard_normal())
            lines.append(f"{N:.4g},{D:.4g},{loss:.5f}")
    lines.append("1e8,2e9,nan")
    return ("\n".join(lines) + "\n").encode()
