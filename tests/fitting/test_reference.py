"""Real runs: the optimum and intervals an independent program reached. Skipped where the runs are absent."""

import json

import numpy as np
import pandas as pd
import pytest

from oracles.runs import chinchilla_rows, real_runs
from sparselaw.fitting import fit, read_table


@pytest.mark.parametrize(
    ("objective", "reference"),
    [
        ("huber", {"E": 1.81722, "A": 477.83, "B": 2143.4, "alpha": 0.34731, "beta": 0.36717}),
        ("l1", {"E": 1.81686, "A": 482.00, "B": 2085.4, "alpha": 0.34781, "beta": 0.36585}),
        ("least-squares", {"E": 1.8646, "A": 593.3, "B": 4876.0, "alpha": 0.3603, "beta": 0.4059}),
    ],
)
def test_chinchilla_optimum(objective, reference):
    found = fit(chinchilla_rows(), objective=objective, bootstrap=0)
    assert found.rows_used == 240
    assert found.status == "ok"
    tolerance = {"E": 1e-3, "A": 1e-2, "B": 1e-2, "alpha": 2e-3, "beta": 2e-3}
    for name, value in reference.items():
        assert found.params[name].best == pytest.approx(value, rel=tolerance[name])
    if objective == "huber":
        assert found.value == pytest.approx(0.001018274, rel=1e-6)
        hoffmann = 0.001231
        assert found.value < hoffmann


def test_chinchilla_all_rows():
    table = read_table(real_runs("chinchilla/svg_extracted_data.csv"))
    found = fit(table, bootstrap=0)
    assert any("C/(6N)" in w for w in found.warnings)
    assert [found.params[n].best for n in ("E", "alpha", "beta")] == pytest.approx(
        [1.8913, 0.3493, 0.4531], rel=1e-3
    )


def test_chinchilla_intervals():
    """Each end within a tenth of the reference's; ends of 1,000 draws have some 2 % of their own noise."""
    found = fit(chinchilla_rows(), bootstrap=1000)
    reference = {
        "E": (1.771, 1.872), "A": (285, 728), "B": (1066, 5816),
        "alpha": (0.316, 0.372), "beta": (0.333, 0.416),
    }  # fmt: skip
    for name, (low, high) in reference.items():
        assert found.params[name].low == pytest.approx(low, rel=0.1)
        assert found.params[name].high == pytest.approx(high, rel=0.1)
    assert found.sparsity["alpha1"].contains(0.0)
    assert found.equal_exponents.p_value > 0.05


def test_gemstones_published_optimum():
    table = read_table(real_runs("gemstones/wandb_df_for_fitting_cool_end.jsonl"))
    published = json.loads(real_runs("gemstones/published_fit_delta-3_cool_end.json").read_text())
    found = fit(table, group="run_name", bootstrap=400)
    assert found.value <= published["loss"]["0"] + 1e-9
    assert found.value == pytest.approx(published["loss"]["0"], abs=1e-9)
    assert [found.params[n].best for n in ("alpha", "beta")] == pytest.approx(
        published["exponents"]["0"], rel=2e-3
    )
    assert np.log(found.params["E"].best) == pytest.approx(published["irreducible_error"]["0"], rel=1e-3)
    alpha1 = found.sparsity["alpha1"]
    assert alpha1.best == pytest.approx(-0.48, abs=0.01)
    assert alpha1.low == pytest.approx(-0.67, abs=0.06)
    assert alpha1.high == pytest.approx(-0.10, abs=0.08)


def test_gadre_answer_depends_on_the_selection():
    table = pd.read_csv(real_runs("gadre/gadre_104_models.csv"))
    table = table[table.train_set.str.contains("rpj")]
    columns = {"loss": "loss_c4_val"}
    found = fit(table, columns=columns, bootstrap=200, leave_out=True)
    assert found.rows_used == 35
    assert found.sparsity["alpha1"].best == pytest.approx(-0.11, abs=0.01)
    assert any("sign of alpha1" in w for w in found.sparsity_words())
    late = fit(table[table.multiplier >= 1], columns=columns, bootstrap=200, leave_out=True)
    assert late.sparsity["alpha1"].best == pytest.approx(0.04, abs=0.01)
    smallest = next(line for line in late.leave_out if line.left_out == "smallest N")
    assert smallest.alpha1.best == pytest.approx(0.69, abs=0.02)
    assert late.sparsity["alpha1"].contains(0.69)


def test_llama3_optimum():
    found = fit(read_table(real_runs("forecast/llama3.csv")), bootstrap=0)
    assert found.status == "ok"
    best = [found.params[n].best for n in ("E", "alpha", "beta")]
    assert best == pytest.approx([1.838, 0.332, 0.372], abs=1e-3)
