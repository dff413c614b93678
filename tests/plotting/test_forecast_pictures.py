"""Pictures of forecasts show the runs, the points and what was predicted."""

import matplotlib as mpl
import numpy as np
import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.forecasting.predictive import back_test_at

mpl.use("Agg")


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.fixture(scope="module")
def forecast():
    return sl.forecast(noisy_runs(CHINCHILLA_TRUTH, 0, 60), budget=[1e22, 1e23])


def test_the_fan_has_runs_band_and_points(ax, forecast):
    assert sl.plot.forecast_fan(forecast, ax=ax) is ax
    runs, band = ax.collections[:2]
    assert len(runs.get_offsets()) == 60
    points = ax.containers[0].lines[0]
    np.testing.assert_allclose(points.get_xdata(), [1e22, 1e23])
    np.testing.assert_allclose(points.get_ydata(), [p.loss.best for p in forecast.points])
    edge = band.get_paths()[0].vertices
    assert edge[:, 0].max() > 1e23
    line = ax.lines[0]
    width = np.interp(np.log([1e20, 1e23]), np.log(line.get_xdata()), line.get_ydata())
    assert width[0] > width[1] > forecast.law.E


def test_the_back_test_counts_what_is_inside(ax, forecast):
    test = forecast.backtest[0]
    sl.plot.back_test(test, ax=ax)
    inside, outside = ax.lines[1:3]
    assert len(inside.get_xdata()) == round(test.covered * test.runs)
    assert len(inside.get_xdata()) + len(outside.get_xdata()) == test.runs
    assert f"{100 * test.covered:.0f} %" in ax.get_title()


def test_a_back_test_that_could_not_be_made_says_so(ax, forecast):
    none = back_test_at(forecast.runs, 0.1)
    sl.plot.back_test(none, ax=ax)
    assert "no forecast" in ax.texts[0].get_text()
