"""The paper's own settings (its appendix on experiments), what --quick leaves, and losses along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes

from sparselaw.arrays import FloatArray
from sparselaw.experiments.paper.item import Context, Row
from sparselaw.features import FEATURES
from sparselaw.fitting import Sweep
from sparselaw.inputs import DenseInputs, Inputs, SparseInputs
from sparselaw.interval import student_factor
from sparselaw.plotting.style import THEORY
from sparselaw.predicting import predict
from sparselaw.solvers import MinNorm, Solver
from sparselaw.sweeps.cells import mean_loss
from sparselaw.sweeps.simulate import grid
from sparselaw.trials.task import Estimator, Record

ALPHA1, ALPHA2 = 1.0, 0.3
DIMENSION = 10_000

SPARSE = SparseInputs(alpha1=ALPHA1, alpha2=ALPHA2, dimension=DIMENSION)
DENSE = DenseInputs.matching(SPARSE, DIMENSION)

SWEEP_D = 50_000  # data of the model sweeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The sizes of an N-sweep and a D-sweep, and how they are measured and fitted."""

    N: tuple[int, ...]
    D: tuple[int, ...]
    width: int  # N of the D-sweep
    seeds: int
    last: int  # points that are fitted
    n_test: int
    calm_seeds: int = 8  # of the dense D-sweep: slow, and losses vary by 3 %, elsewhere by 30 %


CLOSED_FORM = Grid(
    N=(4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    D=(10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1280),
    width=16_000,
    seeds=20,
    last=6,
    n_test=50_000,
)
NESTEROV = Grid(
    N=(4, 8, 16, 32, 64, 128, 256),
    D=(10, 20, 40, 80, 160, 320, 640, 1280),
    width=8_000,
    seeds=5,
    last=4,
    n_test=20_000,
)

QUICK_SEEDS = 3
QUICK_LARGEST = {"N": 96, "D": 320}


def seeds(full: int, quick: bool, features: str = "linear") -> int:
    """As many seeds as the paper, or a few; two of the slow ReLU trials."""
    return min(full, QUICK_SEEDS if FEATURES[features].has_surface else 2) if quick else full


def sizes(full: Sequence[int], variable: str, quick: bool) -> list[int]:
    """The paper's grid, or what a quick run keeps of it."""
    return [size for size in full if not quick or size <= QUICK_LARGEST[variable]]


# Losses of a sweep as an array (points, seeds), from the records of its trials.


@dataclass(frozen=True, slots=True)
class SweepSpec:
    """One curve: the sizes along it, and everything that stays fixed."""

    inputs: Inputs
    variable: str  # "N" or "D"
    sizes: Sequence[int]
    fixed: int  # the other size
    seeds: int
    features: str = "linear"
    solver: Solver = field(default_factory=MinNorm)
    estimator: Estimator = "exact"
    n_test: int = 50_000

    @property
    def name(self) -> str:
        return f"{self.inputs.kind} {self.variable}-sweep"

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(N, D) along the curve."""
        return [(size, self.fixed) if self.variable == "N" else (self.fixed, size) for size in self.sizes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A curve measured: every seed's loss, corrected by its control where that narrows it."""

    spec: SweepSpec
    losses: FloatArray  # (points, seeds)
    mean: FloatArray
    stderr: FloatArray
    statuses: tuple[str, ...]

    @property
    def x(self) -> FloatArray:
        return np.asarray(self.spec.sizes, dtype=float)

    @property
    def sweep(self) -> Sweep:
        """What ``fit_power`` takes."""
        return Sweep(x=self.x, seeds=self.losses)

    @property
    def median(self) -> FloatArray:
        return np.asarray(np.median(self.losses, axis=1))

    @property
    def half_width(self) -> FloatArray:
        """95 % half-width of the mean, by Student's t."""
        return student_factor(self.spec.seeds) * self.stderr

    def rows(self) -> list[Row]:
        """One row for each size."""
        spec, medians = self.spec, self.median.tolist()
        fixed = {"features": spec.features, "solver": spec.solver.name, "estimator": spec.estimator}
        return [
            {"sweep": spec.name, "N": N, "D": D, "loss": mean, "stderr": error, "median": median}
            | {"seeds": spec.seeds, **fixed, "status": status}
            for (N, D), mean, error, median, status in zip(
                spec.cells, self.mean.tolist(), self.stderr.tolist(), medians, self.statuses, strict=True
            )
        ]

    def draw(self, ax: Axes, theory: FloatArray, colour: str, label: str) -> None:
        """The means with their intervals, and the theory as a line."""
        ax.errorbar(self.x, self.mean, self.half_width, fmt="o", color=colour, capsize=2, label=label)
        ax.plot(self.x, theory, color=THEORY, linewidth=1.0)


def measure(context: Context, specs: Sequence[SweepSpec]) -> list[Measured]:
    """Run the trials of all curves together, so that all workers stay busy."""
    tasks = [
        grid(
            spec.inputs,
            N=spec.sizes if spec.variable == "N" else [spec.fixed],
            D=spec.sizes if spec.variable == "D" else [spec.fixed],
            seeds=spec.seeds,
            features=spec.features,
            solver=spec.solver,
            estimator=spec.estimator,
            n_test=spec.n_test,
        )
        for spec in specs
    ]
    records = iter(context.run([task for part in tasks for task in part]))
    return [_collect(spec, [next(records) for _ in part]) for spec, part in zip(specs, tasks, strict=True)]


def _collect(spec: SweepSpec, records: list[Record]) -> Measured:
    cells = [records[i : i + spec.seeds] for i in range(0, len(records), spec.seeds)]
    columns = ("loss", "control", "control_mean")
    found = [
        mean_loss(*(np.array([getattr(record, name) for record in cell], float) for name in columns))
        for cell in cells
    ]
    return Measured(
        spec=spec,
        losses=np.array([estimate.adjusted for estimate in found]),
        mean=np.array([estimate.mean for estimate in found]),
        stderr=np.array([np.nan if e.stderr is None else e.stderr for e in found]),
        statuses=tuple("+".join(sorted({r.status for r in cell})) for cell in cells),
    )


def surface(spec: SweepSpec) -> FloatArray:
    """The closed-form loss along a sweep; of nonlinear features, that of readouts trained to the end."""
    solver = spec.solver if FEATURES[spec.features].has_surface else None
    losses = [
        predict(spec.inputs, N=N, D=D, solver=solver, features=spec.features).loss for N, D in spec.cells
    ]
    return np.array(losses)
