"""How the sparsity moves when some runs go: an answer that hangs on the selection should look like one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray
from sparselaw.fitting.bootstrap import bootstrap
from sparselaw.fitting.fitted_law import LeftOut
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.prepare import prepare
from sparselaw.fitting.solve import LARGEST_POLISH_ROWS, global_minimum, sample
from sparselaw.fitting.sparsity import sparsity_intervals
from sparselaw.fitting.without_compiler import by_arrays
from sparselaw.laws import Law

PART = 0.1  # the smallest or largest sizes that hold at least this part of the rows go
WORST = 0.05
MOST_DRAWS = 200
MOST_SLOW_DRAWS = 40  # of a law that is fitted by its formula

Mask = npt.NDArray[np.bool_]


def leave_out_table(
    runs: Runs,
    law: type[Law],
    objective: Objective,
    residuals: FloatArray,
    minima: FloatArray,
    *,
    draws: int,
    seed: int,
    workers: int = 1,
) -> tuple[LeftOut, ...]:
    """One fit for every selection that leaves enough rows; a sample stands for a very large table.

    ``minima`` are those found on all runs, natural values (n, p): where no compiler is to be loaded every fit
    starts from them alone. On real runs 4 of 280 such fits ended above the lowest minimum, by up to 0.1 %.
    """
    if len(runs) > LARGEST_POLISH_ROWS and runs.group is None:
        chosen = sample(len(runs))
        runs, residuals = runs.take(chosen), residuals[chosen]
    table = []
    most = MOST_DRAWS if law.terms else MOST_SLOW_DRAWS
    for name, kept in selections(runs, residuals):
        part = runs.take(kept).with_groups_numbered()
        design = prepare(law, part)
        if len(part) <= design.free or any(np.ptp(part.sizes[name]) == 0.0 for name in law.sizes):
            continue
        groups = len(part) if part.group is None else int(part.group.max()) + 1
        starts = None
        if by_arrays(len(part)):
            near = np.array([design.theta_of(values) for values in minima])
            starts = np.clip(near, design.lower, design.upper)
        minimum = global_minimum(design, objective, starts=starts)
        drawn = bootstrap(
            design, objective, minimum, draws=min(draws, most) if groups >= 3 else 0, seed=seed,
            group=part.group, workers=workers,
        )  # fmt: skip
        best, drawn = design.natural(minimum.theta), design.natural(drawn)
        of_N, of_D = design.exponent_places()
        alpha_N, alpha_D = float(best[of_N]), float(best[of_D])
        table.append(
            LeftOut(
                left_out=name,
                rows_used=len(part),
                alpha_N=alpha_N,
                alpha_D=alpha_D,
                alpha1=sparsity_intervals(alpha_N, alpha_D, drawn[:, of_N], drawn[:, of_D])["alpha1"],
            )
        )
    return tuple(table)


def selections(runs: Runs, residuals: FloatArray) -> Iterator[tuple[str, Mask]]:
    """(what goes, the rows that stay)."""
    measures: list[tuple[str, Callable[[Runs], FloatArray]]] = [
        ("N", lambda r: r.N), ("D", lambda r: r.D), ("D/N", lambda r: r.D / r.N),
    ]  # fmt: skip
    for name, measure in measures:
        values = measure(runs)
        yield f"smallest {name}", ~_lowest(values)
        yield f"largest {name}", ~_lowest(-values)
    size = np.abs(residuals) / runs.scale
    yield "worst-fitting", size < np.quantile(size, 1.0 - WORST)


def _lowest(values: FloatArray) -> Mask:
    """The rows with the lowest distinct values, as many values as hold a tenth of the rows."""
    distinct, counts = np.unique(values, return_counts=True)
    enough = int(np.searchsorted(np.cumsum(counts), PART * values.size))
    mask: Mask = values <= distinct[enough]
    return mask
