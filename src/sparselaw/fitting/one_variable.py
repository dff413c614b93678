"""One size varies: the runs of one sweep or several, for a law of one size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparselaw.errors import InputError
from sparselaw.fitting.fitted_runs import Runs, Sweeps
from sparselaw.laws import ANY_SIZE


def in_sweeps(runs: Runs, variable: str | None, last: int | None) -> tuple[Runs, tuple[str, ...]]:
    """The rows that lie in sweeps, and what to tell the reader.

    Rows that share the other size make one sweep; of each, the ``last`` largest sizes are used.
    """
    variable = _variable(runs, variable)
    name = "D" if variable == "N" else "N"
    size, other = runs.sizes[variable], runs.sizes[name]
    values, sweep = np.unique(other, return_inverse=True)
    kept = np.ones(len(runs), bool)
    for s in range(values.size):
        sizes = np.unique(size[sweep == s])
        if last is not None:
            if last < 2:
                raise InputError("last", last, "must be at least 2", "choose last >= 2")
            kept &= (sweep != s) | (size >= sizes[-last:][0])
        if sizes.size < 2:
            kept &= sweep != s
    used = runs.take(kept)
    if len(used) == 0:
        raise InputError(
            "variable", variable, f"no {name} has runs at two values of {variable}", "choose another law"
        )
    values, sweep = np.unique(other[kept], return_inverse=True)
    notes = [f"one exponent for {variable}, over {values.size} value{'s' * (values.size > 1)} of {name}"]
    if len(used) < len(runs):
        notes.append(f"{len(runs) - len(used)} rows outside the sweeps or their last sizes are not used")
    sweeps = Sweeps(size=variable, other=name, values=values, index=sweep)
    return replace(used, sizes={**used.sizes, ANY_SIZE: size[kept]}, sweeps=sweeps), tuple(notes)


def _variable(runs: Runs, variable: str | None) -> str:
    varies = {name: bool(np.ptp(runs.sizes[name]) > 0.0) for name in ("N", "D")}
    if variable is None:
        if varies["N"] and varies["D"]:
            raise InputError("variable", "", "both N and D vary", "say which one: variable N or variable D")
        variable = "N" if varies["N"] else "D"
    if variable not in varies:
        raise InputError("variable", variable, "is not a size", "choose N or D")
    if not varies[variable]:
        raise InputError(
            "variable", variable, f"{variable} is the same in every row", f"add runs with other {variable}"
        )
    return variable
