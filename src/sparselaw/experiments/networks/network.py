"""A network without biases: x -> W_L f(... f(W_2 f(W_1 x))), f its activation, hidden layers of N units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from sparselaw.errors import InputError, check_choice, check_positive, check_size
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.solvers import Solver
from sparselaw.sweeps.cells import RatioStudy, ratios
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.sweep import run_sweep
from sparselaw.trials.task import Learner, Record, Task

if TYPE_CHECKING:
    from sparselaw.trials.run import Needs

ACTIVATIONS = ("linear", "relu", "transformer")
NO_TORCH = "needs torch (pip install 'sparselaw[torch]')"
# What a network is taught: a linear teacher, products of pairs of coordinates, an answer to every token.
TARGETS = ("linear", "pairs", "facts")


@dataclass(frozen=True, slots=True)
class Network(Learner):
    """A network that is trained end to end.

    Parameters
    ----------
    depth
        Layers of weights: 2 is one hidden layer.
    width
        Units in a hidden layer.
    activation
        "linear" or "relu"; "transformer" is one block of attention, for facts, and needs torch.
    frozen
        Whether the first layer stays as it was drawn.

    Examples
    --------
    >>> Network(depth=3, width=32, activation="relu")
    Network(depth=3, width=32, activation='relu', frozen=False)
    """

    remedy: ClassVar[str] = "reduce D or the width"
    depth: int = 2
    width: int = 64
    activation: str = "linear"
    frozen: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", check_size("depth", self.depth))
        object.__setattr__(self, "width", check_size("width", self.width))
        check_choice("network", self.activation, ACTIVATIONS)
        if self.activation == "transformer" and find_spec("torch") is None:
            remedy = "pip install 'sparselaw[torch]', or choose linear or relu"
            raise InputError("network", self.activation, "needs torch", remedy)
        if self.depth < 2:
            raise InputError("depth", self.depth, "has no hidden layer", "choose depth >= 2")

    @property
    def is_linear(self) -> bool:
        return self.activation == "linear"

    def settings(self) -> dict[str, Any]:
        """The settings that change the answer, but for the width, which a task calls N."""
        return {"depth": self.depth, "network": self.activation, "frozen": self.frozen}

    def fitted_to(self, task: Task) -> tuple[Network, Solver]:
        """The network with the task's N as its width, and its solver: the usual Adam where none was named."""
        check_choice("target", task.target, TARGETS)
        solver = task.solver
        if solver.rank_tolerance is not None:
            solver = usual_adam(self, task.target, task.outputs)
        if not isinstance(solver, NetworkDescent):
            raise InputError("solver", solver.name, "does not train networks", "give Adam, or none")
        if not task.feature_map.has_surface:
            raise InputError("features", task.features, "are the network's own", "leave them out")
        if task.noise > 0.0:
            raise InputError("noise", task.noise, "is not made for networks", "leave it out")
        if self.activation == "transformer" and (task.target != "facts" or self.frozen):
            raise InputError("network", self.activation, "learns facts, whole", "choose target facts")
        if task.target != "linear" and task.inputs.sampling != "activations":
            raise InputError("target", task.target, "needs sparse inputs", "choose target linear")
        if task.target == "facts":
            check_facts(cast(ActivationInputs, task.inputs))
        if task.target == "facts" and task.outputs < 2:
            raise InputError("outputs", task.outputs, "is the number of answers", "choose outputs >= 2")
        if task.target == "pairs" and task.outputs > 1:
            raise InputError("outputs", task.outputs, "is one for products of pairs", "leave it out")
        if task.estimator != "exact":
            raise InputError("estimator", task.estimator, "is not made for networks", "leave it out")
        return replace(self, width=task.N), solver

    def needs(self, task: Task) -> Needs:
        """Memory and time of its trial."""
        from sparselaw.trials.run import FLOPS, Needs, expected_patterns, finite_dimension

        N, m, D, steps = float(task.N), float(task.outputs), float(task.D), cast(Adam, task.solver).steps
        layers = 6.0 * m + 6.0 * (self.depth - 2) * N  # work of a unit behind the first
        if task.inputs.sampling != "activations":
            M = finite_dimension(task)
            memory = 40.0 * (D + 4096.0) * M + 48.0 * M * N + 1e6
            return Needs(memory=memory, seconds=1e-2 + steps * D * N * (4.0 * M + layers) / (0.3 * FLOPS))
        inputs, facts = cast(ActivationInputs, task.inputs), task.target == "facts"
        K = inputs.expected_seen(task.D)
        P = K if facts else expected_patterns(inputs, task.D)
        nonzeros = 1.0 if facts else inputs.expected_nonzeros()
        weights = (K + layers / 6.0) * N
        step = P * N * (4.0 * nonzeros + layers) + 30.0 * weights
        memory = 40.0 * D * nonzeros + 48.0 * weights + 16.0 * P * m + 200.0 * K * N
        if task.target == "pairs":
            memory += 40.0 * K * K + 16.0 * P * K
        return Needs(memory=memory, seconds=1e-2 + 5e-8 * D * nonzeros + steps * step / (0.3 * FLOPS))

    def trial(self, task: Task) -> Record:
        """Draw the data of ``task``, train the network, measure its loss."""
        from sparselaw.experiments.networks import network_trial

        return network_trial.trial(task)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkDescent(Solver):
    """``start`` scales the first weights: the first layer is drawn with deviation start / sqrt(N)."""

    rotation_invariant: ClassVar[bool] = False
    remedy: ClassVar[str] = "reduce D, the width or the steps"
    adaptive: ClassVar[bool]  # whether each weight's step is divided by the size of its gradients
    steps: int = 1000
    rate: float = 0.005
    start: float = 0.1
    warm_up: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", check_size("steps", self.steps))
        object.__setattr__(self, "rate", check_positive("rate", self.rate))
        object.__setattr__(self, "start", check_positive("start", self.start))
        object.__setattr__(self, "warm_up", check_size("warm_up", self.warm_up))


# Full-batch Adam with warm-up and a cosine: settings, and those known to reach the data's limit.
#
# Adam moves every weight by about the rate whatever the size of its gradient, so that rare coordinates are
# learnt as well as common ones. Plain momentum stops at many times the unseen variance, and an exponent
# fitted there is the optimiser's.

DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.9, 0.99, 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Adam(NetworkDescent):
    """Adam: every weight moves by about the rate, whatever the size of its gradient.

    Parameters
    ----------
    steps
        Number of steps.
    rate
        How far a weight moves in a step at first; it falls along the run.
    start
        Scale of the first weights: those of the first layer have the deviation start / sqrt(N).
    warm_up
        Steps until the rate is reached.
    """

    name: ClassVar[str] = "adam"
    adaptive: ClassVar[bool] = True


def usual_adam(network: Network, target: str, outputs: int) -> Adam:
    """Steps and rate that bring such a network to the limit of its data, at D of 100 to 64,000."""
    if network.activation == "transformer":
        return Adam(steps=700, rate=0.01)
    if target == "facts":
        return Adam(steps=2000, rate=0.05, start=1.0) if network.frozen else Adam(steps=400, rate=0.05)
    if network.frozen:
        return Adam(steps=3000, rate=0.02, start=1.0)
    if outputs > 1:
        return Adam(steps=2000 if network.is_linear else 3000, rate=0.02)
    if network.depth > 2:
        return Adam(steps=2000)
    return Adam(steps=1000 if network.is_linear else 3000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Momentum(NetworkDescent):
    """Steps along a running mean of the gradients, over the last ten or so."""

    name: ClassVar[str] = "momentum"
    adaptive: ClassVar[bool] = False


def check_facts(inputs: ActivationInputs) -> None:
    """Tokens have amplitude one and probabilities that can be added up."""
    if not np.allclose(inputs.squared_amplitudes(np.array([1.0, 2.0, 7.0])), 1.0):
        remedy = "choose alpha2 = -1 for facts"
        raise InputError("alpha2", getattr(inputs, "alpha2", inputs.kind), "gives tokens sizes", remedy)
    if not np.isfinite(inputs.expected_nonzeros()):
        raise InputError("alpha1", getattr(inputs, "alpha1", ""), "has no Zipf law", "choose alpha1 > 0")


# Networks on a grid of widths and data sizes.


def train_networks(
    inputs: Inputs,
    network: Network,
    D: int | Sequence[int],
    *,
    widths: int | Sequence[int] | None = None,
    task: str = "linear",
    outputs: int = 1,
    adam: NetworkDescent | None = None,
    seeds: int = 10,
    seed: int = 0,
    **running: Any,
) -> RatioStudy:
    """Train networks on D samples of the inputs, and compare their loss with the unseen variance.

    Parameters
    ----------
    inputs : Inputs
        The law of the inputs.
    network : Network
        Depth, width, activation, and whether the first layer is frozen.
    D : int or sequence of int
        Numbers of samples.
    widths : int or sequence of int, optional
        Widths in place of the network's own.
    task : {"linear", "pairs", "facts"}
        What is taught: a linear teacher, products of pairs, or answers to tokens (inputs with alpha2 = -1).
    outputs : int
        Outputs of a linear teacher, or the number of answers of facts.
    adam : NetworkDescent, optional
        Steps and rate. By default those known to reach the limit of the data; a network that does not
        reach it has a status that says so.
    seeds : int
        Networks for each width and D.
    seed : int
        The first seed.
    **running
        ``store``, ``workers``, ``scheduler`` and ``retry``, as ``simulate`` takes them.

    Returns
    -------
    RatioStudy
        Cells with loss, unseen variance and their ratio, and the slope of the ratio in D.

    Raises
    ------
    InputError
        A setting that makes no sense, or networks that do not fit in memory.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> study = train_networks(SparseInputs(alpha1=1, alpha2=0.3), Network(2, 8), D=[30, 60, 120], seeds=3)
    >>> study.ratio_slope.contains(0.0)
    True
    """
    tasks = network_tasks(
        inputs, network, D, widths=widths, task=task, outputs=outputs, adam=adam, seeds=seeds, seed=seed
    )
    return ratios(zip(tasks, run_sweep(tasks, **running), strict=True))


def network_tasks(
    inputs: Inputs,
    network: Network,
    D: int | Sequence[int],
    *,
    widths: int | Sequence[int] | None = None,
    task: str = "linear",
    adam: NetworkDescent | None = None,
    **runs: Any,
) -> list[Task]:
    """The trials of ``train_networks``; ``runs`` are its outputs, seeds and seed."""
    sizes = network.width if widths is None else widths
    solver = "min-norm" if adam is None else adam
    return grid(inputs, sizes, D, solver=solver, network=network, target=task, **runs)
