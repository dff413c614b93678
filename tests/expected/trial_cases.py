"""Trials of every kind of inputs, features and solver, and what a store calls them."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from case_list import DENSE, SPARSE, SPARSE_FINITE, add

import sparselaw as sl

FLOATS = ("loss", "control", "control_mean", "gradient")
COUNTS = ("seen", "rank", "iterations", "restarts")


def trials(model: Any, N: Any, D: Any, *, seeds: int = 2, **settings: Any) -> dict[str, Any]:
    frame = sl.simulate(model, N=N, D=D, seeds=seeds, workers=1, **settings)
    values: dict[str, Any] = {"status": [str(s) for s in frame["status"]]}
    for name in FLOATS:
        values[name] = [None if pd.isna(v) else float(v) for v in frame[name]]
    for name in COUNTS:
        values[name] = [None if pd.isna(v) else int(v) for v in frame[name]]
    return {k: v for k, v in values.items() if any(x is not None for x in v)}


SOLVERS = {
    "min-norm": sl.MinNorm(),
    "ridge": sl.Ridge(ridge=0.1),
    "gd": sl.GradientDescent(steps=30),
    "nesterov": sl.Nesterov(max_iterations=3000),
    "sgd": sl.SGD(passes=2),
}
KINDS: tuple[tuple[str, Any, str, list[int], int], ...] = (
    ("sparse-linear", SPARSE, "linear", [6, 13, 17, 40], 100),  # below, just below, near and above K
    ("sparse-relu", SPARSE, "relu", [6, 17, 60], 100),
    ("dense-linear", DENSE, "linear", [8, 25, 60], 24),
    ("dense-relu", DENSE, "relu", [8, 25, 60], 24),
)
for kind, model, features, N, D in KINDS:
    for how, record in SOLVERS.items():
        shared: dict[str, Any] = {"features": features, "solver": record}
        add(f"trial {kind} {how} exact", trials, model, N, D, **shared)
        add(f"trial {kind} {how} raw", trials, model, N, D, estimator="raw", n_test=300, **shared)
        add(f"trial {kind} {how} noise", trials, model, N, D, seed=7, noise=0.25, **shared)
for how, record in SOLVERS.items():
    shared = {"solver": record, "noise": 0.1, "estimator": "raw", "n_test": 200}
    add(
        f"trial dense {how} both above the dimension",
        trials,
        DENSE,
        [45, 90],
        [60, 90],
        solver=record,
        seeds=1,
    )
    add(f"trial dense {how} raw noise", trials, DENSE, [10, 60], [30, 70], seeds=1, **shared)
    add(f"trial sparse {how} raw noise", trials, SPARSE, [10, 60], [30, 70], seeds=1, **shared)
    add(
        f"trial finite dimension {how}", trials, SPARSE_FINITE, [5, 20, 50], [20, 400], seeds=1, solver=record
    )
    relu = {"features": "relu", "solver": record, "seeds": 1}
    add(f"trial finite dimension relu {how}", trials, SPARSE_FINITE, [5, 50], 60, **relu)
    add(
        f"trial dense relu raw noise {how}",
        trials,
        DENSE,
        [10, 60],
        [12, 70],
        seeds=1,
        features="relu",
        **shared,
    )

OTHERS = {
    "alpha1 0": sl.SparseInputs(alpha1=0.0, alpha2=0.5, dimension=60),
    "alpha1 -0.5": sl.SparseInputs(alpha1=-0.5, alpha2=1.0, dimension=60),
    "alpha1 -1": sl.SparseInputs(alpha1=-1.0, alpha2=1.5, dimension=40),
    "alpha1 0.3": sl.SparseInputs(alpha1=0.3, alpha2=0.3),
    "alpha1 0.5": sl.SparseInputs(alpha1=0.5, alpha2=0.5),
    "alpha1 0.3 growing": sl.SparseInputs(alpha1=0.3, alpha2=-1.2, dimension=500),
    "steep": sl.SparseInputs(alpha1=1.0, alpha2=3.0),
    "steep dependent": sl.SparseInputs(alpha1=0.4, alpha2=3.0),
    "very steep": sl.SparseInputs(alpha1=0.5, alpha2=12.0),
    "growing": sl.SparseInputs(alpha1=1.5, alpha2=-1.4),
}
for name, model in OTHERS.items():
    add(f"trial {name}", trials, model, [5, 30, 200], [20, 80])
    add(f"trial {name} noise", trials, model, [5, 30, 200], [20, 80], noise=0.1, seeds=1)
    add(f"trial {name} ridge", trials, model, [5, 60], [20, 80], seeds=1, solver=sl.Ridge(ridge=1e-3))
    add(f"trial {name} relu", trials, model, [5, 60], [20, 60], seeds=1, features="relu")
for rtol in (0.0, 1e-4, 1e-2):
    settings = {"solver": sl.MinNorm(rtol=rtol)}
    add(f"trial steep rtol {rtol:g}", trials, OTHERS["steep"], [8, 20, 100], 200, **settings)
    add(f"trial steep rtol {rtol:g} noise", trials, OTHERS["steep"], [8, 20, 100], 200, noise=0.1, **settings)
    add(f"trial dependent rtol {rtol:g}", trials, OTHERS["steep dependent"], [8, 60, 300], 60, **settings)
    add(f"trial dense rtol {rtol:g}", trials, DENSE, [8, 60], [20, 60], seeds=1, **settings)
add("trial samples many", trials, SPARSE, [10, 100], [2000, 5000])
add("trial width without limit", trials, SPARSE, 10**12, [1, 2, 1000])
add("trial one of everything", trials, SPARSE, 1, 1, seeds=3)
add("trial near the rank", trials, SPARSE, 17, 100, seeds=8)
add("trial dense at the peak", trials, DENSE, [20, 21], [20, 21], seeds=1)
add("trial dense relu wide", trials, DENSE, 800, 20, seeds=1, features="relu")
add("trial dense relu wide noise", trials, DENSE, 800, 20, seeds=1, features="relu", noise=0.1)
add(
    "trial dense matching",
    trials,
    sl.DenseInputs.matching(SPARSE, dimension=100),
    [10, 50],
    [10, 50],
    seeds=1,
)
many = sl.SparseInputs(alpha1=0.2, alpha2=0.5)
add("trial relu drawn teachers", trials, many, 12, 1500, seeds=1, features="relu")
for name, record in {
    "gd no step": sl.GradientDescent(steps=0),
    "gd given step": sl.GradientDescent(steps=20, step=0.3),
    "gd diverges": sl.GradientDescent(steps=3000, step=30.0),
    "gd many steps": sl.GradientDescent(steps=100_000),
    "nesterov stopped": sl.Nesterov(max_iterations=5),
    "nesterov loose": sl.Nesterov(tolerance=1e-3, power_iterations=3),
    "sgd batch": sl.SGD(passes=3, batch=7),
    "sgd given step": sl.SGD(passes=1, step=0.05),
    "sgd diverges": sl.SGD(passes=30, step=40.0),
    "ridge zero": sl.Ridge(ridge=0.0),
    "ridge large": sl.Ridge(ridge=100.0),
}.items():
    add(f"trial sparse {name}", trials, SPARSE, [6, 40], 80, seeds=1, solver=record)
    add(f"trial dense {name}", trials, DENSE, [8, 50], 24, seeds=1, solver=record)
    add(f"trial sparse relu {name}", trials, SPARSE, [6, 40], 80, seeds=1, solver=record, features="relu")
    add(f"trial dense relu {name}", trials, DENSE, [8, 50], 24, seeds=1, solver=record, features="relu")


def ids(model: Any, **settings: Any) -> dict[str, Any]:
    """What a store calls these trials."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        sl.simulate(model, N=[2, 3], D=4, seeds=2, seed=5, workers=1, store=path, **settings)
        connection = sqlite3.connect(path)
        rows = connection.execute("SELECT id, study FROM runs ORDER BY N, D, seed").fetchall()
        connection.close()
    return {"id": [row[0] for row in rows], "study": [row[1] for row in rows]}


add("ids sparse", ids, SPARSE)
add("ids sparse finite relu", ids, SPARSE_FINITE, features="relu", noise=0.5)
add("ids dense raw", ids, DENSE, estimator="raw", n_test=100)
for how, record in SOLVERS.items():
    add(f"ids {how}", ids, SPARSE, solver=record)
