import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from sparselaw.failure.failure_curve import FailurePoint
from sparselaw.interval import Interval
from sparselaw.plotting.theory import failure_curve


def point(D, best, spike, method="direct", low=None):
    bulk = Interval(0.0, max(best - spike, 0.0), 1.0)
    interval = Interval(best / 2 if low is None else low, best, 2 * best or 1e-3)
    return FailurePoint(
        D=D, threshold=2.0, probability=interval, spike=spike, bulk=bulk, method=method, spike_index=9.0,
        replicates=10, failures=1.0, status="ok",
    )  # fmt: skip


def test_total_spike_bulk_slope_and_upper_ends_are_drawn():
    figure, ax = plt.subplots()
    points = [point(10, 0.1, 0.05), point(100, 0.01, 0.006, "importance"), point(1000, 0.0, 0.0, low=0.0)]
    failure_curve(points, ax=ax, nu=0.9)
    labels = ax.get_legend_handles_labels()[1]
    assert {"total (direct)", "total (importance)", "bulk", "spike (exact)", "upper end"} <= set(labels)
    assert any("0.9" in label for label in labels)
    spike = next(line for line in ax.lines if line.get_label() == "spike (exact)")
    assert list(spike.get_ydata()) == [0.05, 0.006]
    plt.close(figure)


def test_nothing_to_draw_is_an_empty_figure():
    figure, ax = plt.subplots()
    failure_curve([], ax=ax)
    assert ax.get_legend() is None
    plt.close(figure)
