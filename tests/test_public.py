"""The names that scripts rely on, used together as the contract shows them."""

import json
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

import sparselaw as sl

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def runs():
    model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    return sl.simulate(model, N=[16, 32, 64], D=[500, 5_000, 50_000], seeds=4)


def test_from_model_to_plan(runs):
    model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    assert model.exponents.alpha_N == pytest.approx(2.3)
    assert sl.predict(model, N=256, D=50_000).loss > 0.0
    assert len(runs) == 36
    law = sl.fit(runs, law="two-power", bootstrap=40)
    assert law.params["alpha_N"].low <= law.params["alpha_N"].best <= law.params["alpha_N"].high
    found = sl.plan(law, budget=1e12, cost="direct")
    assert found.N.best**2 * found.D.best == pytest.approx(1e12, rel=1e-6)


def test_loss_curves_draw_every_run_and_the_law(runs):
    law = sl.fit(runs, law="two-power", bootstrap=0)
    figure, ax = plt.subplots()
    sl.plot.loss_curves(runs, law, ax=ax)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "fitted law" or "fitted law" in labels
    assert sum(label.startswith("D = ") for label in labels) == 3
    cell = runs[(runs["N"] == 16) & (runs["D"] == 500)]["loss"].mean()
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    assert np.any(np.isclose(drawn, cell, rtol=1e-12))
    expected = law.law.loss(np.array([16.0]), 500.0)[0]
    assert np.any(np.isclose(drawn, expected, rtol=1e-12))
    plt.close(figure)


def test_every_public_name_can_be_reached():
    for name in sl.__all__:
        assert getattr(sl, name) is not None
    with pytest.raises(AttributeError):
        _ = sl.nothing_of_the_kind


def test_the_module_runs_as_a_command():
    command = [sys.executable, "-m", "sparselaw", "predict", "--alpha1", "1", "--alpha2", "0.3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["regime"] == "asymmetric"
