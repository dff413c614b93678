"""Does the 95 % interval hold the losses of dearer runs? On made-up runs always, on real ones if slow."""

import functools
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from oracles.runs import real_runs
from sparselaw.fitting.forecast.average import average
from sparselaw.fitting.rows import clean_runs
from sparselaw.interval import Z95
from sparselaw.laws import ChinchillaLaw, CoupledLaw

ADDITIVE = ChinchillaLaw(E=1.8172, A=477.8, B=2143.4, alpha=0.3473, beta=0.3672)
COUPLED = CoupledLaw(E=1.6, A=90.0, B=300.0, alpha=0.27, beta=0.30, g=0.45)
TABLES, AHEAD = 30, 8.0


def one_table(truth, seed, rows=60, noise=0.005):
    """Runs over three decades of compute, and one run eight times dearer than the dearest."""
    generator = np.random.Generator(np.random.PCG64(seed))
    C = np.exp(generator.uniform(np.log(1e18), np.log(1e21), rows))
    C[-1] = AHEAD * 1e21
    N = np.sqrt(C / 120.0) * np.exp(generator.uniform(-1.5, 1.5, rows))
    D = C / (6.0 * N)
    loss = truth.loss(N, D) * np.exp(noise * generator.standard_normal(rows))
    return {"N": N, "D": D, "loss": loss}


@functools.cache
def foretold(truth, tables=TABLES):
    """Log loss of the dear run of every table, with the mean and the standard deviation foretold."""
    found = []
    for seed in range(tables):
        table = one_table(truth, seed)
        known = {name: values[:-1] for name, values in table.items()}
        mean, sd = average(clean_runs(known).runs).log_losses(table["N"][-1:], table["D"][-1:])
        found.append((np.log(table["loss"][-1]), mean[0], sd[0]))
    return np.array(found).T


def scores(truth, shift=0.0):
    """(log loss - mean) / sd; ``shift`` plants an error in the losses."""
    loss, mean, sd = foretold(truth)
    return (loss + shift - mean) / sd


@pytest.mark.parametrize("truth", [ADDITIVE, COUPLED], ids=lambda law: law.name)
def test_dearer_runs_of_a_true_law_lie_inside(truth):
    """30 tables: fewer than 25 inside has chance 0.3 % at 95 %. Scores all near zero would be too wide an
    interval: their root mean square is above 0.4 (for normal scores below it has chance below 1e-6)."""
    z = scores(truth)
    assert np.sum(np.abs(z) <= Z95) >= 25
    assert 0.4 < np.sqrt(np.mean(z**2)) < 1.5


def test_a_planted_error_is_seen():
    """Losses 5 % higher than foretold: the interval is some 2 % to either side."""
    assert np.sum(np.abs(scores(ADDITIVE, shift=0.05)) <= Z95) < 20


def benchmark():
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "forecast_coverage.py"
    spec = importlib.util.spec_from_file_location("forecast_coverage", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["forecast_coverage"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_dearer_runs_of_every_real_set():
    """The cheapest 30, 50, 70 % known: pooled coverage, least coverage of a set, width, error."""
    module = benchmark()
    folder = real_runs("forecast/llama3.csv").parents[1]
    cases = module.foretell_all(folder)
    found = module.summary(cases)
    assert len({case.name for case in cases}) == 10
    assert found["runs"] > 1500
    assert 0.88 <= found["coverage"] <= 0.99
    assert found["least_coverage"] >= 0.75
    assert found["width"] <= 1.6
    assert found["error_ratio"] <= 2 / 3


@pytest.mark.slow
@pytest.mark.parametrize("truth", [ADDITIVE, COUPLED], ids=lambda law: law.name)
def test_true_laws_are_covered_and_widths_close_in_on_the_bootstraps(truth):
    """60 tables of one law: the dearer half of each lies inside in 90 to 99 %. Runs of one table share the
    error of its law, so that 60 tables are some 60 trials: a standard error of 3 % about 97 %."""
    module = benchmark()
    draws = 60 if truth is ADDITIVE else 0
    few, many = (module.synthetic(truth, 60, rows, draws) for rows in (60, 800))
    assert 0.90 <= few["coverage"] <= 0.995
    assert 0.90 <= many["coverage"] <= 0.99
    if draws:
        ratios = [found["width"] / found["bootstrap_width"] for found in (few, many)]
        assert ratios[1] < 0.85 * ratios[0]
        assert ratios[1] < 1.6
