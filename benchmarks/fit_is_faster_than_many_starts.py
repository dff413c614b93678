"""Claims: a fit with 1,000 bootstraps is at least 50 times faster than 4,500 L-BFGS starts per fit written
with scipy alone, and the fit itself at least 10 times faster than the PyPI package `chinchilla`, both at the
same or a lower objective.

    python benchmarks/fit_is_faster_than_many_starts.py [runs.csv] [--starts 4500] [--other-python PATH]

The table has N, D and loss (or Model Size, Training FLOP and loss); without one, made-up runs of the same
shape. With fewer starts than 4,500 the time is scaled up in proportion. `chinchilla` is looked for in this
interpreter, or in the one given (a throwaway venv will do).
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from sparselaw.fitting import read_table
from sparselaw.fitting.clean_runs import Runs, clean_runs
from sparselaw.fitting.design import prepare
from sparselaw.fitting.draws import bootstrap
from sparselaw.fitting.minimise import global_minimum, parse_objective
from sparselaw.laws import ChinchillaLaw

DELTA = 1e-3
GRID = list(
    itertools.product(
        np.arange(0, 2.5, 0.5), np.arange(0, 2.5, 0.5), np.arange(-1, 1.5, 0.5),
        np.arange(0, 30, 5), np.arange(0, 30, 5),
    )
)  # fmt: skip
DRAWS = 1000

OTHER = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from functools import partial
from chinchilla import Chinchilla
from chinchilla._metrics import log_huber
table = pd.read_csv(sys.argv[1])
grid = dict(e=np.linspace(-1, 1, 3), a=np.linspace(1, 10, 3), b=np.linspace(1, 10, 3),
            alpha=np.linspace(0.1, 0.7, 3), beta=np.linspace(0.1, 0.7, 3))
cc = Chinchilla(sys.argv[2], param_grid=grid, loss_fn=partial(log_huber, delta=1e-3), log_level=60)
cc.database.df = table.assign(C=6 * table.N * table.D)[["C", "N", "D", "loss"]]
start = time.perf_counter()
cc.fit(parallel=False)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "starts": 243, "params": [float(v) for v in (cc.E, cc.A, cc.B, cc.alpha, cc.beta)]}))
"""  # noqa: E501


def made_up() -> pd.DataFrame:
    """240 runs on nine budgets, with heavy-tailed noise."""
    generator = np.random.Generator(np.random.PCG64(0))
    budget = np.resize(np.geomspace(6e18, 3e21, 9), 240)
    N = 3e8 * (budget / 6e18) ** 0.5 * np.exp(generator.uniform(-2, 2, 240))
    D = budget / (6 * N)
    loss = (1.817 + 478 * N**-0.347 + 2143 * D**-0.367) * np.exp(0.005 * generator.standard_t(4, 240))
    return pd.DataFrame({"N": N, "D": D, "loss": loss})


def huber_sum(log_loss: np.ndarray, prediction: np.ndarray) -> float:
    r = np.abs(log_loss - prediction)
    return float(np.sum(np.where(r <= DELTA, 0.5 * r**2, DELTA * (r - 0.5 * DELTA))))


def scipy_alone(runs: Runs, starts: int) -> tuple[float, float]:
    """(seconds, objective) of L-BFGS-B from a grid of starts, with an exact gradient and tight tolerances."""
    log_N, log_D, log_loss = np.log(runs.N), np.log(runs.D), np.log(runs.loss)

    def value_and_gradient(p: np.ndarray) -> tuple[float, np.ndarray]:
        alpha, beta, e, a, b = p
        terms = np.stack([np.full(log_N.size, e), a - alpha * log_N, b - beta * log_D])
        top = terms.max(axis=0)  # by hand: scipy's own logsumexp takes ten times as long on 240 rows
        share = np.exp(terms - top)
        total = share.sum(axis=0)
        r = log_loss - top - np.log(total)
        share *= np.clip(r / DELTA, -1, 1) / total
        value = np.sum(np.where(np.abs(r) <= DELTA, 0.5 * r**2 / DELTA, np.abs(r) - 0.5 * DELTA))
        return value, np.array(
            [share[1] @ log_N, share[2] @ log_D, -share[0].sum(), -share[1].sum(), -share[2].sum()]
        )

    order = np.random.Generator(np.random.PCG64(0)).permutation(len(GRID))[:starts]
    begin = time.perf_counter()
    best = min(
        minimize(
            value_and_gradient, GRID[i], jac=True, method="L-BFGS-B",
            options={"ftol": 1e-14, "gtol": 1e-8, "maxiter": 1000},
        ).fun
        for i in order
    )  # fmt: skip
    return time.perf_counter() - begin, float(best) * DELTA


def ours(runs: Runs) -> tuple[float, float, float]:
    """(seconds of the fit, seconds with the bootstraps, objective), compiled beforehand."""
    objective = parse_objective("huber", DELTA)
    design = prepare(ChinchillaLaw, runs)
    bootstrap(design, objective, global_minimum(design, objective), draws=25, seed=1)
    begin = time.perf_counter()
    minimum = global_minimum(prepare(ChinchillaLaw, runs), objective)
    fitted = time.perf_counter() - begin
    bootstrap(design, objective, minimum, draws=DRAWS, seed=0)
    return fitted, time.perf_counter() - begin, minimum.value


def package(runs: Runs, python: str) -> dict[str, object] | None:
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame({"N": runs.N, "D": runs.D, "loss": runs.loss}).to_csv(f"{folder}/runs.csv", index=False)
        try:
            done = subprocess.run(
                [python, "-c", OTHER, f"{folder}/runs.csv", folder],
                capture_output=True,
                text=True,
                check=False,
            )
            reason = (done.stderr.strip().splitlines() or ["no output"])[-1] if done.returncode else ""
        except OSError as error:
            reason = str(error)
    if reason:
        print(f"package chinchilla: not measured ({reason}); pip install it, or give --other-python")
        return None
    found: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="?")
    parser.add_argument("--starts", type=int, default=len(GRID))
    parser.add_argument("--keep", type=int, help="use the rows with the lowest losses, this many")
    parser.add_argument("--other-python", default=sys.executable)
    options = parser.parse_args()
    table = read_table(options.runs) if options.runs else made_up()
    runs = clean_runs(table).runs
    if options.keep:
        runs = runs.take(np.argsort(runs.loss, kind="stable")[: options.keep])
    fitted, whole, value = ours(runs)
    print(f"{len(runs)} rows, Huber {DELTA:g}")
    print(
        f"sparselaw: fit {fitted * 1e3:.1f} ms, with {DRAWS} bootstraps {whole:.2f} s, objective {value:.10g}"
    )
    seconds, other = scipy_alone(runs, options.starts)
    print(f"scipy alone: {options.starts} starts {seconds:.1f} s, objective {other:.10g}")
    per_fit = seconds * len(GRID) / options.starts
    print(f"  one fit of {len(GRID)} starts against ours with {DRAWS} bootstraps: {per_fit / whole:.0f}x")
    print(f"  {DRAWS + 1} fits like it against the same: {per_fit * (DRAWS + 1) / whole:.0f}x")
    print(f"  objective {'same or lower' if value <= other * (1 + 1e-9) else 'HIGHER'}")
    found = package(runs, options.other_python)
    if found is None:
        return
    E, A, B, alpha, beta = found["params"]
    theirs = huber_sum(np.log(runs.loss), np.log(E + A * runs.N**-alpha + B * runs.D**-beta))
    print(f"package chinchilla: {found['starts']} starts {found['seconds']:.1f} s, objective {theirs:.10g}")
    print(f"  against our fit: {found['seconds'] / fitted:.0f}x")
    print(f"  objective {'same or lower' if value <= theirs * (1 + 1e-9) else 'HIGHER'}")


if __name__ == "__main__":
    main()
