"""The runs a law is fitted to, as arrays; and those of one sweep or several, for a law of one size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.forecasting import KnownRuns
from sparselaw.laws import ANY_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """Runs in which one size varies while another stays: ``index`` tells the sweep of every row."""

    size: str  # the size that varies
    other: str  # the size that a sweep shares
    values: FloatArray  # (sweeps,): its values
    index: IntArray  # (rows,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Positive, finite, at least one. ``group`` numbers the whole runs that rows belong to."""

    sizes: Mapping[str, FloatArray]  # by their names; always N and D, ones where the table has none
    loss: FloatArray
    scale: FloatArray  # relative standard errors over their median; ones where the table has none
    group: IntArray | None = None
    sweeps: Sweeps | None = None
    row: IntArray | None = None  # where each stood in the table, from zero
    compute: FloatArray | None = None  # C of every row, where the table has it

    @property
    def N(self) -> FloatArray:
        return self.sizes["N"]

    @property
    def D(self) -> FloatArray:
        return self.sizes["D"]

    def take(self, rows: npt.NDArray[np.bool_] | IntArray) -> Runs:
        return Runs(
            sizes={name: values[rows] for name, values in self.sizes.items()},
            loss=self.loss[rows],
            scale=self.scale[rows],
            group=None if self.group is None else self.group[rows],
            sweeps=None if self.sweeps is None else replace(self.sweeps, index=self.sweeps.index[rows]),
            row=None if self.row is None else self.row[rows],
            compute=None if self.compute is None else self.compute[rows],
        )

    def with_groups_numbered(self) -> Runs:
        """The same runs with groups counted from zero without gaps."""
        if self.group is None:
            return self
        return replace(self, group=np.unique(self.group, return_inverse=True)[1])

    def known(self) -> KnownRuns:
        """The same as a forecast takes them."""
        return KnownRuns(N=self.N, D=self.D, loss=self.loss, scale=self.scale, group=self.group, row=self.row)

    def __len__(self) -> int:
        return self.loss.size


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
