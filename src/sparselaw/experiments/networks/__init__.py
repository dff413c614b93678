"""Networks trained end to end on sparse inputs, on a grid of widths and data sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sparselaw.experiments.networks.network import TARGETS, Adam, Momentum, Network, NetworkDescent

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs
    from sparselaw.sweeps.cells import RatioStudy
    from sparselaw.trials.task import Task

__all__ = ["TARGETS", "Adam", "Momentum", "Network", "network_tasks", "train_networks"]


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
    from sparselaw.sweeps.cells import ratios
    from sparselaw.sweeps.sweep import run_sweep

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
    from sparselaw.sweeps.simulate import grid

    sizes = network.width if widths is None else widths
    solver = "min-norm" if adam is None else adam
    return grid(inputs, sizes, D, solver=solver, network=network, target=task, **runs)
