"""Networks of one kind on a grid of widths and data sizes, with their loss over the unseen variance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sparselaw.experiments.networks import Network
from sparselaw.experiments.networks.network import NetworkDescent
from sparselaw.inputs import Inputs
from sparselaw.sweeps.ratios import RatioStudy, ratios
from sparselaw.sweeps.simulate import grid, run_tasks
from sparselaw.trials.task import Task


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
    store: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    retry: bool = False,
) -> RatioStudy:
    """Train ``network`` on D samples of the inputs, for every width and seed, and compare with the unseen.

    ``task`` is "linear", "pairs" (products of pairs) or "facts" (inputs with alpha2 = -1, ``outputs``
    answers). Without ``adam`` the steps and the rate are those known to reach the limit of the data; what
    does not reach it has a status that says so. Store, workers and scheduler are those of ``simulate``.

    >>> from sparselaw.inputs import SparseInputs
    >>> study = train_networks(SparseInputs(alpha1=1, alpha2=0.3), Network(2, 8), D=[30, 60, 120], seeds=3)
    >>> study.ratio_slope.contains(0.0)
    True
    """
    tasks = network_tasks(
        inputs, network, D, widths=widths, task=task, outputs=outputs, adam=adam, seeds=seeds, seed=seed
    )
    return ratios(run_tasks(tasks, store=store, workers=workers, scheduler=scheduler, retry=retry))


def network_tasks(
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
) -> list[Task]:
    """The trials of ``train_networks``."""
    return grid(
        inputs,
        network.width if widths is None else widths,
        D,
        seeds=seeds,
        seed=seed,
        solver="min-norm" if adam is None else adam,
        network=network,
        target=task,
        outputs=outputs,
    )
