"""The runs a law is fitted to, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray, IntArray


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
        )

    def with_groups_numbered(self) -> Runs:
        """The same runs with groups counted from zero without gaps."""
        if self.group is None:
            return self
        return replace(self, group=np.unique(self.group, return_inverse=True)[1])

    def __len__(self) -> int:
        return self.loss.size
