"""Fits to the best runs: the lower envelope, and the best run of each N and D."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from oracles.runs import CHINCHILLA_TRUTH, chinchilla_design, noisy_runs
from sparselaw.fitting import fit
from sparselaw.fitting.design import prepare


def untuned(seed=0, rows=120):
    """Three runs for each size: one close to the law, two up to a tenth worse."""
    generator = np.random.Generator(np.random.PCG64(seed))
    N, D = (np.repeat(x, 3) for x in chinchilla_design(rows))
    worse = np.tile([0.0, 1.0, 1.0], rows) * generator.uniform(0.01, 0.1, 3 * rows)
    loss = CHINCHILLA_TRUTH.loss(N, D) * np.exp(worse + 0.001 * generator.standard_normal(3 * rows))
    return pd.DataFrame({"N": N, "D": D, "loss": loss, "lr": np.tile([1e-3, 2e-3, 4e-3], rows)})


def test_the_best_run_of_each_size():
    table = untuned()
    found = fit(table, best=True, bootstrap=0)
    by_hand = fit(table.loc[table.groupby(["N", "D"])["loss"].idxmin()].drop(columns="lr"), bootstrap=0)
    assert found.rows_used == 120
    assert found.value == pytest.approx(by_hand.value, rel=1e-9)
    assert (found.status, fit(table, bootstrap=0).status) == ("ok", "pooled")
    assert any("240 rows with a better run" in w for w in found.warnings)
    assert found.params["E"].best == pytest.approx(CHINCHILLA_TRUTH.E, rel=0.01)


def test_the_envelope_runs_below_the_bad_runs():
    """A plain fit lies some 4 % too high; the envelope within half a per cent of the truth."""
    table = untuned()
    N, D = chinchilla_design(40)
    truth = CHINCHILLA_TRUTH.loss(N, D)
    plain, low = fit(table, bootstrap=0), fit(table, objective="envelope", bootstrap=0)
    assert np.median(plain.loss(N, D) / truth - 1) > 0.02
    assert np.median(np.abs(low.loss(N, D) / truth - 1)) < 0.005
    assert np.mean(low.residuals < 0) == pytest.approx(0.1, abs=0.08)
    assert any("best tenth" in w for w in low.warnings)


def edge(theta, design, delta):
    """Huber's function with weight 0.1 for a run above the law and 0.9 for one below."""
    z = design.residuals(theta) * design.inverse_scale
    huber = np.where(np.abs(z) <= delta, z**2 / 2, delta * (np.abs(z) - delta / 2))
    return float(np.sum(np.where(z > 0, 0.1, 0.9) * huber))


def test_the_envelope_is_the_minimum_of_its_objective():
    """A simplex search from there finds nothing lower."""
    found = fit(noisy_runs(CHINCHILLA_TRUTH, 1, 80), objective="envelope", bootstrap=0)
    design = prepare(type(found.law), found.runs)
    start = design.theta_of(np.array([found.params[n].best for n in design.names]))
    assert found.value == pytest.approx(edge(start, design, found.delta or 1e-3), rel=1e-9)
    lower = minimize(
        edge,
        start,
        (design, 1e-3),
        method="Nelder-Mead",
        options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12},
    ).fun
    assert lower >= (1 - 1e-6) * found.value


def test_intervals_of_the_envelope():
    found = fit(untuned(rows=60), objective="envelope", bootstrap=20)
    assert found.params["alpha"].low < found.params["alpha"].best < found.params["alpha"].high
    grouped = fit(untuned(rows=60), objective="envelope", bootstrap=20, group="lr")
    assert len(grouped.draws) == 20
