"""One size varies: the power law over one sweep or several, with one exponent and an intercept for each."""

from __future__ import annotations

import numpy as np

from sparselaw.errors import InputError
from sparselaw.fitting.design import Design, Runs, sweep_design


def one_variable_design(
    runs: Runs, variable: str | None, last: int | None
) -> tuple[Design, Runs, tuple[str, ...]]:
    """The design, the rows it uses, and what to tell the reader.

    Rows that share the other size make one sweep; of each, the ``last`` largest sizes are used.
    """
    variable = _variable(runs, variable)
    size, other, name = (runs.N, runs.D, "D") if variable == "N" else (runs.D, runs.N, "N")
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
    names = ("A",) if values.size == 1 else tuple(f"A[{name}={value:g}]" for value in values)
    notes = [f"one exponent for {variable}, over {values.size} value{'s' * (values.size > 1)} of {name}"]
    if len(used) < len(runs):
        notes.append(f"{len(runs) - len(used)} rows outside the sweeps or their last sizes are not used")
    design = sweep_design(size[kept], used.loss, used.scale, sweep, (*names, "alpha"))
    return design, used, tuple(notes)


def _variable(runs: Runs, variable: str | None) -> str:
    varies = {name: bool(np.ptp(values) > 0.0) for name, values in (("N", runs.N), ("D", runs.D))}
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
