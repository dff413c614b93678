"""How often does the interval hold the losses of larger runs? Made-up runs always, real ones if slow."""

import functools
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oracles.runs import real_runs
from sparselaw.forecasting import known_runs, predictive
from sparselaw.forecasting.settings import SETTINGS
from sparselaw.laws import ChinchillaLaw, CoupledLaw

ADDITIVE = ChinchillaLaw(E=1.8172, A=477.8, B=2143.4, alpha=0.3473, beta=0.3672)
COUPLED = CoupledLaw(E=1.6, A=90.0, B=300.0, alpha=0.27, beta=0.30, g=0.45)
TABLES, AHEAD = 20, 8.0


def one_table(truth, seed, rows=60, noise=0.005):
    """Runs over three decades of compute, and one run eight times as expensive as the largest."""
    generator = np.random.Generator(np.random.PCG64(seed))
    C = np.exp(generator.uniform(np.log(1e18), np.log(1e21), rows))
    C[-1] = AHEAD * 1e21
    N = np.sqrt(C / 120.0) * np.exp(generator.uniform(-1.5, 1.5, rows))
    D = C / (6.0 * N)
    return N, D, truth.loss(N, D) * np.exp(noise * generator.standard_normal(rows))


@functools.cache
def predicted(truth, tables=TABLES):
    """Log loss of the large run of every table, and the ends of its 95 % interval."""
    found = []
    for seed in range(tables):
        N, D, loss = one_table(truth, seed)
        interval = predictive(known_runs(N[:-1], D[:-1], loss[:-1]))[0].intervals(N[-1:], D[-1:])[0]
        found.append((loss[-1], interval.low, interval.high))
    return np.log(np.array(found).T)


def inside(truth, shift=0.0):
    loss, low, high = predicted(truth)
    return int(np.sum((low <= loss + shift) & (loss + shift <= high)))


@pytest.mark.parametrize("truth", [ADDITIVE, COUPLED], ids=lambda law: law.name)
def test_larger_runs_of_a_true_law_lie_inside(truth):
    """20 tables: fewer than 16 inside has chance 0.3 % at 95 %. The interval is no wider than 12 %."""
    assert inside(truth) >= 16
    _, low, high = predicted(truth)
    assert np.median(high - low) < 0.12


def test_a_planted_error_is_seen():
    """Losses 10 % higher than predicted."""
    assert inside(ADDITIVE, shift=0.10) < 10


def benchmark(name="forecast_coverage"):
    path = Path(__file__).resolve().parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_six_protocols_hide_what_they_say():
    module = benchmark()
    N = np.repeat(np.geomspace(1e8, 1e9, 5), 4)
    D = np.tile(np.geomspace(1e9, 1e10, 4), 5)
    runs = known_runs(N, D, 3.0 - 1e-10 * np.arange(20)).in_order()
    hidden = {name: module.split(runs, name)[1] for name in module.PROTOCOLS}
    assert [len(hidden[f"cheapest {share} %"]) for share in (30, 50, 70)] == [14, 10, 6]
    assert set(hidden["largest N hidden"].N) == {N.max()}
    spent = hidden["above a tenth hidden"].N * hidden["above a tenth hidden"].D
    assert len(spent) == np.sum(N * D > 1.0001e18)
    assert len(hidden["last run"]) == 1
    for name in module.PROTOCOLS:
        known, later = module.split(runs, name)
        assert len(known) + len(later) == 20
        if name != "largest N hidden":
            assert known.log_compute.max() <= later.log_compute.min() + 1e-9


def test_scores_by_hand():
    """One loss 0.03 off with a half width of 0.02: width 0.04 and 40 times 0.01."""
    module = benchmark()
    scale = 0.02 / 3.182446305284263
    case = module.Case(
        family="a", name="a", protocol="last run", error=np.array([0.03]), scale=np.array([scale]), degrees=3,
        bootstrap=np.empty(0, bool),
    )  # fmt: skip
    assert case.winkler() == pytest.approx(0.44)
    assert not case.covered().any()
    assert case.width() == pytest.approx(0.02 / (1.959964 * 0.03))
    t = 0.03 / scale
    density = 2.0 / (np.pi * np.sqrt(3.0)) / (1.0 + t**2 / 3.0) ** 2 / scale
    assert case.log_score() == pytest.approx(np.log(density))


def test_a_csv_is_one_more_set(tmp_path):
    module = benchmark()
    N, D, loss = one_table(ADDITIVE, 3)
    rows = "\n".join(f"{n},{d},{v}" for n, d, v in zip(N, D, loss, strict=True))
    (tmp_path / "ours_first.csv").write_text(f"N,D,loss\n{rows}\n")
    (only,) = module.real_sets(tmp_path)
    assert (only.family, only.name, len(only.runs)) == ("ours", "ours_first", 60)
    cases = module.forecast_all([only])
    assert {case.protocol for case in cases} == set(module.PROTOCOLS)
    assert module.line("ours", cases).count("|") == module.heading("family").splitlines()[0].count("|")


@pytest.mark.parametrize("name", ["in use", "before"])
def test_weighing_anew_is_fitting_anew(name):
    """But for components of a weight below 1e-4 of the rest."""
    coverage, tried = benchmark(), benchmark("forecast_tried")
    one = coverage.true_runs(ADDITIVE, 5, 60)
    settings = replace(SETTINGS, **tried.TRIED[name])
    (case,) = tried.fitted_cases([one], ["cheapest 50 %"])
    found, expected = tried.weighed(case, settings), coverage.forecast_case(one, "cheapest 50 %", settings)
    np.testing.assert_allclose(found.error, expected.error, atol=1e-5)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-3)
    assert coverage.line(name, [found]).count("|") == 13


@pytest.mark.slow
def test_every_real_set_by_six_protocols():
    """The figures of the page, with room for other versions of the libraries."""
    module = benchmark()
    sets = list(module.real_sets(real_runs("forecast/llama3.csv").parents[1]))
    cases = module.forecast_all(sets)
    found = module.summary(cases)
    assert found["cases"] >= 80
    assert 0.92 <= found["95"] <= 0.985
    assert found["losses"] >= 0.92
    assert abs(found["50"] - 0.5) <= 0.1
    assert abs(found["80"] - 0.8) <= 0.1
    assert found["width"] <= 1.5
    assert found["log"] > module.summary(module.forecast_all(sets, module.WITHOUT_DRIFT))["log"]
    for family, some in module.parts(cases, "family"):
        assert module.summary(some)["95"] >= 0.8, family


@pytest.mark.slow
@pytest.mark.parametrize("truth", [ADDITIVE, COUPLED], ids=lambda law: law.name)
def test_true_laws_are_covered_and_widths_close_in_on_their_own(truth):
    """40 tables of one law: the expensive half of each lies inside in 90 to 99.5 %. Runs of one table share
    the error of its law, so that 40 tables are some 40 trials: a standard error of 3 % about 97 %."""
    module = benchmark()
    few, many = (module.synthetic(truth, 40, rows) for rows in (60, 800))
    assert 0.90 <= few["coverage"] <= 0.995
    assert 0.90 <= many["coverage"] <= 0.995
    ratios = [found["width"] / found["own"] for found in (few, many)]
    assert ratios[1] < 1.7
