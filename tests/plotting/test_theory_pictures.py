import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from sparselaw import plot
from sparselaw.inputs import SparseInputs
from sparselaw.planning import frontier_curve
from sparselaw.predicting import predict
from sparselaw.theory.scaling_limit import frontier, scaling_function

MODEL = SparseInputs(alpha1=1.0, alpha2=0.3)


@pytest.fixture
def ax():
    with plot.style():
        figure, ax = plt.subplots()
        yield ax
        figure.canvas.draw()
        plt.close(figure)


def test_phase_diagram_names_the_three_regimes(ax):
    plot.phase_diagram(ax=ax)
    text = " ".join(t.get_text() for t in ax.texts)
    assert "symmetric" in text
    assert "asymmetric" in text
    assert "fail" in text


def test_surface_curves_are_the_predictions(ax):
    plot.loss_surface(MODEL, [10, 100, 1000], [1000, 50_000], ax=ax)
    drawn = ax.lines[1].get_ydata()
    assert drawn[1] == pytest.approx(predict(MODEL, N=100, D=50_000).loss, rel=1e-9)
    assert len(ax.get_legend().get_texts()) == 2


def test_scaling_curve_is_the_scaling_function(ax):
    plot.scaling_curve(MODEL, ax=ax)
    xi, S = (np.asarray(v) for v in ax.lines[1].get_data())
    assert S[-1] == pytest.approx(scaling_function(MODEL, float(xi[-1])), rel=1e-6)  # drawn in one pass
    assert np.all(xi > MODEL.exponents.xi_crit)


def test_frontier_lies_below_every_curve(ax, monkeypatch):
    monkeypatch.setitem(frontier_curve.__globals__, "PLACES", 3)
    plot.compute_frontier(MODEL, [256], ax=ax)
    best = frontier(MODEL)
    C, loss = (np.asarray(v) for v in ax.lines[0].get_data())
    ratio = loss / (best.best.constant * C**-best.alpha_C)
    assert np.nanmin(ratio) == pytest.approx(1.0, abs=0.03)
    formula = ax.get_legend().get_texts()[-1].get_text()  # whole, however long
    assert f"{best.best.constant:.2f} $C^" in formula
    assert "\u2026" not in formula
