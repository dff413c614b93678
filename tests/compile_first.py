"""Compiles the loops that the tests run: ``python tests/compile_first.py``, once in a fresh checkout.

Two test workers that meet the same loop would each compile it, and so would every command that they start.
What is left out here is compiled by the first test that needs it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

import sparselaw as sl
from sparselaw.experiments.networks import Adam, Network
from sparselaw.features import FEATURES
from sparselaw.nonlinear.sector_tables import sector_table, unit_types
from sparselaw.trials.run import run
from sparselaw.trials.task import Task


def fits() -> None:
    N, D = (x.ravel() for x in np.meshgrid(np.geomspace(1e6, 1e9, 5), np.geomspace(1e8, 1e10, 4)))
    loss = 1.7 + 400.0 * N**-0.34 + 410.0 * D**-0.28
    table = pd.DataFrame({"N": N, "D": D, "U": D / 2.0, "loss": loss * (1.0 + 1e-3 * np.sin(N + D))})
    sl.fit(table, bootstrap=20)
    for law in ("coupled", "kaplan", "data-constrained"):
        sl.fit(table, law=law, bootstrap=0)


def failures() -> None:
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    for method in ("direct", "importance"):
        sl.failure_probability(inputs, [30], 1.5, method=method, replicates=50)


def trials() -> None:
    common = {"seeds": 1, "workers": 1}
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    sl.simulate(inputs, N=[50], D=[20_000], **common)
    for solver in (sl.Nesterov(), sl.SGD(passes=1), sl.SGD(passes=1, momentum=0.5)):
        sl.simulate(inputs, N=[20], D=[100], solver=solver, **common)
    for kind in (inputs, sl.DenseInputs(alpha=0.5, dimension=200)):
        sl.simulate(kind, N=[20, 60], D=[40], features="relu", **common)


def nonlinear_theory() -> None:
    for name in ("relu", "tanh"):
        parts = FEATURES[name].response.parts
        sector_table(sl.SparseInputs(alpha1=1.0, alpha2=0.3), parts, 1e-2, unit_types(True, 2), 0.05, 0.03)


def features() -> None:
    sl.measure(sparse.random_array((200, 50), density=0.1, rng=np.random.default_rng(0)).tocsr())


def networks() -> None:
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    network = Network(depth=2, width=4, activation="relu")
    run(Task(inputs=inputs, N=4, D=20, network=network, solver=Adam(steps=2)))


if __name__ == "__main__":
    failures()
    fits()
    trials()
    features()
    nonlinear_theory()
    networks()
