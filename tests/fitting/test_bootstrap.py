"""Draws: the same bytes whatever the workers, never stuck in a worse minimum, groups kept whole."""

import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit
from sparselaw.fitting.clean_runs import clean_runs
from sparselaw.fitting.design import prepare
from sparselaw.fitting.draws import LONGEST, _draw, bootstrap, refuse_if_long
from sparselaw.fitting.minimise import global_minimum, parse_objective
from sparselaw.laws import LAWS


def prepared(law, truth, name="huber", rows=240, seed=0, noise=0.01):
    runs = clean_runs(noisy_runs(truth, seed, rows, noise)).runs
    design, objective = prepare(LAWS[law], runs), parse_objective(name)
    return design, objective, global_minimum(design, objective)


@pytest.mark.parametrize(
    ("law", "truth"),
    [
        ("chinchilla", CHINCHILLA_TRUTH),
        ("two-power", TWO_POWER_TRUTH),
        ("two-power", CHINCHILLA_TRUTH),  # a law without the floor the data have: two real minima
    ],
)
@pytest.mark.parametrize("name", ["huber", "l1"])
def test_warm_starts_find_what_a_global_fit_finds(law, truth, name):
    design, objective, minimum = prepared(law, truth, name)
    drawn = bootstrap(design, objective, minimum, draws=5, seed=3)
    for b in range(5):
        counts = np.bincount(_draw(design, 240, None, 3, b), minlength=240).astype(float)
        best = global_minimum(design, objective, counts)
        value = design.minimise(drawn[b], objective, counts).value
        assert value * objective.unit <= best.value * (1 + 1e-6)


def test_workers_do_not_change_a_bit():
    design, objective, minimum = prepared("chinchilla", CHINCHILLA_TRUTH, rows=60)
    one = bootstrap(design, objective, minimum, draws=60, seed=7, workers=1)
    three = bootstrap(design, objective, minimum, draws=60, seed=7, workers=3)
    assert one.tobytes() == three.tobytes()
    assert one.tobytes() != bootstrap(design, objective, minimum, draws=60, seed=8).tobytes()


def test_groups_are_drawn_whole():
    """Checkpoints of a run share one error: rows drawn as if independent give far narrower intervals."""
    generator = np.random.Generator(np.random.PCG64(5))
    run = np.repeat(np.arange(25), 8)
    N, D = np.geomspace(5e7, 1e10, 25)[run], np.tile(np.geomspace(1e9, 1e11, 8), 25)
    loss = CHINCHILLA_TRUTH.loss(N, D) * np.exp(0.01 * generator.standard_normal(25))[run]
    loss *= np.exp(0.0005 * generator.standard_normal(200))
    table = pd.DataFrame({"N": N, "D": D, "loss": loss, "run": run})
    rows = fit(table, bootstrap=200).params["alpha"]
    groups = fit(table, bootstrap=200, group="run").params["alpha"]
    assert groups.high - groups.low > 1.4 * (rows.high - rows.low)
    with pytest.raises(InputError, match="groups cannot be resampled"):
        fit(table.assign(run=table.run // 13), bootstrap=200, group="run")


def test_a_large_table_has_the_interval_of_its_size():
    """n rows drawn m at a time must give the spread of n: compared with fits to fresh tables."""
    rows, objective = 12_000, parse_objective("least-squares")
    ends = []
    for seed in range(12):
        design, _, minimum = prepared("two-power", TWO_POWER_TRUTH, "least-squares", rows, seed, 0.02)
        ends.append(minimum.theta[-1])
    drawn = bootstrap(design, objective, minimum, draws=100, seed=0)[:, -1]
    # Ratio of standard deviations of 12 and 100 values: 0.5 to 2 is beyond 3 standard errors of its log.
    assert 0.5 < drawn.std() / np.std(ends, ddof=1) < 2.0


def test_progress_is_told():
    seen = []
    fit(
        noisy_runs(TWO_POWER_TRUTH, 1, 40),
        law="two-power",
        bootstrap=60,
        progress=lambda done, of: seen.append((done, of)),
    )
    assert seen[-1] == (60, 60)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_draws_without_end_are_refused_at_once():
    with pytest.raises(
        InputError, match=r"bootstrap=1000000000000: would take about .* days; choose bootstrap"
    ):
        fit(noisy_runs(TWO_POWER_TRUTH, 1, 40), law="two-power", bootstrap=10**12)


def test_an_hour_is_the_limit():
    refuse_if_long(1e-3, int(LONGEST / 1e-3))
    with pytest.raises(InputError, match=r"about 1.11 hours; choose bootstrap <= 3e\+06"):
        refuse_if_long(1e-3, 4_000_000)
