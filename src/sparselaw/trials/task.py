"""One trial to run, and what came of it: the records that simulation, store and report share."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np

from sparselaw.errors import InputError, check_choice, check_not_negative, check_size
from sparselaw.features import FEATURES, FeatureMap, Layer, register
from sparselaw.inputs import Inputs
from sparselaw.solvers import MinNorm, Solution, Solver, as_solver, settings_of

if TYPE_CHECKING:
    from sparselaw.trials.run import Needs

ENGINE_VERSION = 3  # raise it when the same task would give another number

STATUSES = (
    "ok", "diverged", "not-converged", "not-data-limited", "rank-deficient", "infinite", "failed",
)  # fmt: skip

Estimator = Literal["exact", "raw"]


class Learner(ABC):
    """What a task trains in place of a readout of features. It answers for itself.

    A network is one (``experiments.networks``); the library knows no more of it than this.
    """

    __slots__ = ()
    remedy: ClassVar[str]  # where its task needs more than the machine has

    @abstractmethod
    def fitted_to(self, task: Task) -> tuple[Self, Solver]:
        """Itself at the width N of the task, and the solver that trains it. Refuses what it cannot learn."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What changes the answer, but for the width: part of the identity of a task."""

    @abstractmethod
    def needs(self, task: Task) -> Needs:
        """Memory and time of its trial."""

    @abstractmethod
    def trial(self, task: Task) -> Record:
        """Draw the data, train, measure the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything that changes the answer of one trial.

    ``estimator="raw"`` is the paper's own: one teacher, one fresh test set of ``n_test`` samples.
    """

    inputs: Inputs
    N: int
    D: int
    seed: int = 0
    features: str = "linear"  # a name in FEATURES
    solver: Solver = field(default_factory=MinNorm)
    noise: float = 0.0  # variance of the label noise
    estimator: Estimator = "exact"
    n_test: int = 50_000
    outputs: int = 1  # m, where the features are trained on all of them; of facts, the number of answers
    network: Learner | None = None  # in place of features: N is its width
    target: str = "linear"  # what a network is taught; it knows what it can be

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError("seed", self.seed, "must not be negative", "choose seed >= 0")
        check_size("n_test", self.n_test)
        check_choice("features", self.features, FEATURES)
        check_choice("estimator", self.estimator, get_args(Estimator))
        checked: dict[str, Any] = {
            name: check_size(name, getattr(self, name)) for name in ("N", "D", "outputs")
        }
        checked |= {"noise": check_not_negative("noise", self.noise), "solver": as_solver(self.solver)}
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        features, named = self.feature_map, f"{self.features} features"
        if self.network is not None:
            network, solver = self.network.fitted_to(self)
            object.__setattr__(self, "network", network)
            object.__setattr__(self, "solver", solver)
        elif self.target != "linear":
            raise InputError("target", self.target, "is what a network is taught", "give a network too")
        elif not self.solver.rotation_invariant:
            condition = "depends on the axes of theta, which a trial is free to turn"
            raise InputError("solver", self.solver.name, condition, "choose a rotation-invariant solver")
        elif self.outputs > 1 and not features.several_outputs:
            remedy = "leave it out, or choose features trained"
            raise InputError("outputs", self.outputs, f"has no effect on {named}", remedy)
        if features.optimal and self.solver.rank_tolerance is None:
            remedy = "leave it out: their optimum is exact"
            raise InputError("solver", self.solver.name, f"does not make {named}", remedy)
        if features.optimal and self.estimator != "exact":
            raise InputError("estimator", self.estimator, f"is not made for {named}", "leave it out (--raw)")

    def __reduce__(self) -> tuple[Any, ...]:
        """With its features: another process may not know those that were made by others."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _with_features, (self.feature_map, values)

    def identity(self) -> dict[str, Any]:
        """The task as plain values, with the engine's version: what its id is made of."""
        identity: dict[str, Any] = {
            "engine": ENGINE_VERSION,
            "inputs": self.inputs.kind,
            "problem": {k: str(v) if v == float("inf") else v for k, v in self.inputs.parameters().items()},
            "N": self.N,
            "D": self.D,
            "seed": self.seed,
            "features": self.features,
            "solver": {"name": self.solver.name, **settings_of(self.solver)},
            "noise": self.noise,
            "estimator": self.estimator,
        }
        if self.estimator == "raw":
            identity["n_test"] = self.n_test
        if self.network is not None:
            identity |= self.network.settings() | {"features": "network", "target": self.target}
        if self.network is not None or self.feature_map.several_outputs:
            identity["outputs"] = self.outputs
        return identity

    @property
    def modules(self) -> frozenset[str]:
        """Where its parts are defined: another process must be able to import these."""
        parts = (self.inputs, self.solver, self.feature_map, *([self.network] if self.network else []))
        return frozenset(type(part).__module__ for part in parts)

    @property
    def feature_map(self) -> FeatureMap:
        return FEATURES[self.features]

    @property
    def layer(self) -> Layer:
        """Its features as N units make them."""
        return Layer(self.feature_map, self.N)

    @property
    def id(self) -> str:
        """A hash of the identity: the same task twice has the same id, on any machine."""
        text = json.dumps(self.identity(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def _with_features(feature_map: FeatureMap, values: dict[str, Any]) -> Task:
    if feature_map.name not in FEATURES:
        register(feature_map)
    return Task(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one trial gave. A diverged descent is an observation: it has a status, not an exception."""

    loss: float  # population loss; inf where the expectation is infinite or the descent diverged
    status: str  # one of STATUSES
    reason: str = ""  # in words, where the status is not ok
    averaged: tuple[str, ...] = ()  # exactly, not sampled: of "teacher", "test", "unseen", "u", "data"
    control: float | None = None  # a quantity of known mean, drawn with this loss (the unseen variance)
    control_mean: float | None = None
    seen: int | None = None  # K, the coordinates seen in the data
    rank: int | None = None
    iterations: int | None = None
    restarts: int | None = None
    gradient: float | None = None  # the last |gradient| / |first gradient|
    train: float | None = None  # training loss of a network
    sign_unseen: float | None = None  # variance of coordinates not seen with the sign they have


def random_stream(task: Task, purpose: str) -> np.random.Generator:
    """The random numbers of one task for one purpose ("data", "embedding", "teacher", ...).

    They depend on the seed, the inputs, the sizes and the features, but not on the solver, the noise or the
    estimator: what is compared is compared on the same draws.
    """
    identity = task.identity()
    shared = {key: identity[key] for key in ("engine", "inputs", "problem", "N", "D", "features")}
    text = json.dumps([shared, purpose], sort_keys=True, allow_nan=False)
    words = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([task.seed, *words.tolist()])))


def as_record(
    solution: Solution, loss: Callable[[], float], averaged: tuple[str, ...], rank: int | None = None
) -> Record:
    """The outcome of a solver; its loss is infinite where the descent diverged or the loss overflows."""
    value = math.inf
    if solution.status != "diverged" and np.isfinite(solution.coefficients).all():
        with np.errstate(over="ignore", invalid="ignore"):
            value = loss()
    names = ("status", "reason", "iterations", "restarts", "gradient")
    found = {name: getattr(solution, name) for name in names}
    return Record(loss=value if math.isfinite(value) else math.inf, averaged=averaged, rank=rank, **found)
