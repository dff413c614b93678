"""Small computations through every public function, each a name and a function that returns plain values.

Only names that scripts may rely on are used. What they returned before the house was rebuilt is in
values.json (written by record.py, compared by test_expected.py).
"""

from __future__ import annotations

import functools
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sparselaw as sl

CASES: dict[str, Callable[[], dict[str, Any]]] = {}


def add(name: str, function: Callable[..., dict[str, Any]], *args: Any, **settings: Any) -> None:
    assert name not in CASES, name
    CASES[name] = functools.partial(function, *args, **settings)


def solver(name: str, **settings: Any) -> Any:
    """A record of solver settings, public or still in its old place."""
    if name not in sl.__all__:
        import sparselaw.solvers.settings as home

        return getattr(home, name)(**settings)
    return getattr(sl, name)(**settings)


# Trials

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


SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)  # K(100) is about 17
SPARSE_FINITE = sl.SparseInputs(alpha1=0.8, alpha2=-0.4, dimension=30)
DENSE = sl.DenseInputs(alpha=1.3, dimension=40)
SOLVERS = {
    "min-norm": solver("MinNorm"),
    "ridge": solver("Ridge", ridge=0.1),
    "gd": solver("GradientDescent", steps=30),
    "nesterov": solver("Nesterov", max_iterations=3000),
    "sgd": solver("SGD", passes=2),
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
    add(f"trial {name} ridge", trials, model, [5, 60], [20, 80], seeds=1, solver=solver("Ridge", ridge=1e-3))
    add(f"trial {name} relu", trials, model, [5, 60], [20, 60], seeds=1, features="relu")
for rtol in (0.0, 1e-4, 1e-2):
    settings = {"solver": solver("MinNorm", rtol=rtol)}
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
    "gd no step": solver("GradientDescent", steps=0),
    "gd given step": solver("GradientDescent", steps=20, step=0.3),
    "gd diverges": solver("GradientDescent", steps=3000, step=30.0),
    "gd many steps": solver("GradientDescent", steps=100_000),
    "nesterov stopped": solver("Nesterov", max_iterations=5),
    "nesterov loose": solver("Nesterov", tolerance=1e-3, power_iterations=3),
    "sgd batch": solver("SGD", passes=3, batch=7),
    "sgd given step": solver("SGD", passes=1, step=0.05),
    "sgd diverges": solver("SGD", passes=30, step=40.0),
    "ridge zero": solver("Ridge", ridge=0.0),
    "ridge large": solver("Ridge", ridge=100.0),
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

# Theory


def predictions(model: Any, N: list[int], D: list[int], **settings: Any) -> dict[str, Any]:
    points = [sl.predict(model, N=n, D=d, surface="leading", **settings) for n in N for d in D]
    return {name: [float(getattr(p, name)) for p in points] for name in ("loss", "K", "xi")}


MODELS = {
    "sparse": SPARSE,
    "sparse finite": sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=1000),
    "sparse small alpha1": sl.SparseInputs(alpha1=0.3, alpha2=0.5),
    "sparse growing": sl.SparseInputs(alpha1=1.5, alpha2=-1.4),
    "sparse steep": sl.SparseInputs(alpha1=0.5, alpha2=3.0),
    "symmetric": sl.SparseInputs(alpha1=-0.5, alpha2=1.0),
    "symmetric edge": sl.SparseInputs(alpha1=0.0, alpha2=0.5, dimension=500),
    "dense": sl.DenseInputs(alpha=1.3),
    "dense small": sl.DenseInputs(alpha=1.3, dimension=100),
}


def exponents_of(model: Any) -> dict[str, Any]:
    """What the paper predicts, by name: further fields may come beside these."""
    names = ("regime", "alpha_N", "alpha_D", "alpha_C", "xi_crit", "nu")
    return {name: getattr(model.exponents, name) for name in names}


for name, model in MODELS.items():
    for words, settings in {
        "": {},
        " ridge": {"ridge": 0.1},
        " noise": {"noise": 0.2},
        " ridge noise": {"ridge": 1.0, "noise": 0.2},
    }.items():
        add(f"predict {name}{words}", predictions, model, [4, 60, 700], [50, 5000], **settings)
    add(f"exponents {name}", exponents_of, model)


def numbers_of(record: Any) -> dict[str, Any]:
    """The numbers of a record, by its fields."""
    names = getattr(record, "__dataclass_fields__", {})
    values = {name: getattr(record, name) for name in names}
    return {name: v for name, v in values.items() if v is None or isinstance(v, (int, float, str))}


# Fits


def synthetic() -> pd.DataFrame:
    """A law with a floor and some scatter. Sums of a generator's integers: the same on every machine."""
    draws = np.random.Generator(np.random.PCG64(11))
    rows = []
    for N in (1e6, 3e6, 1e7, 3e7, 1e8):
        for D in (2e7, 1e8, 5e8, 2e9, 1e10):
            for run in range(2):
                scatter = 1.0 + float(draws.integers(-1000, 1001)) * 2e-5
                loss = (1.7 + 400.0 * N**-0.34 + 1100.0 * D**-0.37) * scatter
                rows.append({"N": N, "D": D, "loss": loss, "run": run + 2 * (len(rows) // 6)})
    return pd.DataFrame(rows)


@functools.cache
def simulated() -> pd.DataFrame:
    return sl.simulate(SPARSE, N=[8, 16, 32, 64], D=[50, 200, 800, 3200], seeds=3, workers=1)


def spread(interval: Any) -> list[float | None]:
    return [None if math.isnan(v) else float(v) for v in (interval.low, interval.best, interval.high)]


def fitted(table: Callable[[], pd.DataFrame], **settings: Any) -> dict[str, Any]:
    found = sl.fit(table(), **settings)
    values: dict[str, Any] = {f"params {name}": spread(v) for name, v in found.params.items()}
    values |= {f"sparsity {name}": spread(v) for name, v in (found.sparsity or {}).items()}
    values |= {"value": found.value, "status": found.status, "rows": found.rows_used}
    values |= {f"dropped {reason}": count for reason, count in found.dropped.items()}
    test = found.equal_exponents
    if test is not None:
        values["equal"] = [test.statistic, test.p_value, test.exponent]
    for line in found.leave_out:
        ends = [line.alpha1.low, line.alpha1.best, line.alpha1.high]
        values[f"leave out {line.left_out}"] = [line.rows_used, line.alpha_N, line.alpha_D, *ends]
    return values


def one_sweep() -> pd.DataFrame:
    frame = synthetic()
    return frame[frame["D"] == 1e10]


def other_names() -> pd.DataFrame:
    frame = synthetic()
    frame["compute"] = 6.0 * frame["N"] * frame["D"]
    return frame.rename(columns={"N": "params", "loss": "final"}).drop(columns="D")


def with_errors() -> pd.DataFrame:
    frame = synthetic()
    frame["stderr"] = 0.001 * (1.0 + np.arange(len(frame)) % 4)
    return frame


for law in ("chinchilla", "two-power", "power"):
    for objective in ("huber", "l1", "least-squares"):
        of = {"law": law, "objective": objective, "bootstrap": 24}
        if law == "power":
            of["variable"] = "N"
        add(f"fit {law} {objective}", fitted, synthetic, **of)
        add(f"fit {law} {objective} group", fitted, synthetic, group="run", seed=3, **of)
        add(f"fit {law} {objective} simulated without peak", fitted, simulated, drop_peak=True, **of)
add("fit two-power simulated with peak", fitted, simulated, law="two-power", bootstrap=0)
add("fit two-power simulated group seed", fitted, simulated, law="two-power", bootstrap=20, group="seed")
add("fit chinchilla leave out", fitted, synthetic, bootstrap=20, leave_out=True)
add("fit chinchilla delta", fitted, synthetic, bootstrap=20, delta=0.01)
add("fit chinchilla weighted", fitted, with_errors, bootstrap=20)
add("fit power one sweep", fitted, one_sweep, law="power", bootstrap=20)
add("fit power last", fitted, synthetic, law="power", variable="D", last=3, bootstrap=20)
add(
    "fit chinchilla compute",
    fitted,
    other_names,
    bootstrap=20,
    columns={"N": "params", "loss": "final", "C": "compute"},
)

# Plans


def planned(source: Callable[[], Any], budget: float, cost: str) -> dict[str, Any]:
    found = sl.plan(source(), budget=budget, cost=cost)
    values: dict[str, Any] = {name: spread(getattr(found, name)) for name in ("N", "D")}
    values |= {
        "loss": spread(found.law_loss),
        "alpha_C": found.alpha_C,
        "slope": found.slope,
        "side": found.side,
    }
    values["others"] = [[v.N, v.D, v.loss] for v in found.others]
    values |= {
        f"isoflop {k}": getattr(found.isoflop, k).tolist() for k in ("N", "D", "loss", "excess", "wasted")
    }
    return values


@functools.cache
def fit_of_synthetic(law: str) -> Any:
    return sl.fit(synthetic(), law=law, bootstrap=24)


COSTS = ("direct", "6nd", "gd", "accelerated", "cheapest", "power:1.5")
FINITE = sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=300)
for cost in COSTS:
    add(f"plan chinchilla {cost}", planned, lambda: fit_of_synthetic("chinchilla"), 1e19, cost)
    add(f"plan two-power {cost}", planned, lambda: fit_of_synthetic("two-power"), 1e19, cost)
    add(f"plan theory finite {cost}", planned, lambda: FINITE, 1e7, cost)
    add(f"plan theory dense {cost}", planned, lambda: sl.DenseInputs(alpha=1.3, dimension=500), 1e5, cost)
    add(f"plan theory symmetric {cost}", planned, lambda: MODELS["symmetric edge"], 1e5, cost)
add("plan theory infinite direct", planned, lambda: SPARSE, 1e8, "direct")
add(
    "plan law two-power",
    planned,
    lambda: sl.TwoPowerLaw(A=1.0, B=2.0, alpha_N=2.3, alpha_D=1.15),
    1e9,
    "direct",
)
law_given = sl.ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.35)
add("plan law chinchilla", planned, lambda: law_given, 6e20, "6nd")

# Failure of gradient descent


def failures(model: Any, D: list[int], threshold: float, **settings: Any) -> dict[str, Any]:
    points = sl.failure_probability(model, D=D, threshold=threshold, **settings)
    values: dict[str, Any] = {
        name: [spread(getattr(p, name)) for p in points] for name in ("probability", "bulk")
    }
    for name in ("spike", "spike_index", "failures"):
        values[name] = [float(getattr(p, name)) for p in points]
    for name in ("method", "status", "replicates"):
        values[name] = [getattr(p, name) for p in points]
    return values


SPIKY = sl.SparseInputs(alpha1=1.5, alpha2=-2.0)
BULKY = sl.SparseInputs(alpha1=2.0, alpha2=-1.2, dimension=200)
few = {"failures": 50, "replicates": 3000}
for name, model, sizes, threshold in (
    ("spiky", SPIKY, [20, 100], 2.0),
    ("bulky", BULKY, [20, 40], 1.05),
    ("calm", SPARSE, [20], 1.1),
):
    add(f"failure {name} direct", failures, model, sizes, threshold, method="direct", **few)
    add(f"failure {name} importance", failures, model, sizes[:1], threshold, method="importance", **few)
    add(f"failure {name} exact-spike", failures, model, sizes, threshold, method="exact-spike")
    add(f"failure {name} auto", failures, model, sizes[:1], threshold, seed=4, **few)
add("failure always", failures, SPIKY, [1, 5], 0.9)
add("failure one sample", failures, SPIKY, [1], 1.0)
add("failure too large to draw", failures, SPIKY, [10**10], 2.0)
add("failure few effective", failures, BULKY, [100], 1.05, method="importance", failures=50, replicates=30)
add("failure rare", failures, BULKY, [100], 1.05, method="importance", failures=50, replicates=2000)


def command(*words: str) -> dict[str, Any]:
    """What the command prints as JSON; the functions behind it need not be public."""
    alone = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", "sparselaw", *words, "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=os.environ | alone)
    return {k: v for k, v in json.loads(done.stdout).items() if not k.endswith(("reason", "warnings"))}


add(
    "command failure with the full model",
    command,
    *("failure", "--alpha1", "1.5", "--alpha2", "-2", "-D", "20,40", "--threshold", "2", "-N", "5,100"),
    *("--failures", "20", "--replicates", "1000"),
)
