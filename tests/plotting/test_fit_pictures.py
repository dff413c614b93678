"""Pictures of fits draw on the axes they are given, with labels, and read nothing else."""

import itertools

import matplotlib as mpl
import matplotlib.contour
import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import exponent_profile, fit
from sparselaw.plotting import fits
from sparselaw.plotting.style import legend_above, power_of_ten, short_size, style

mpl.use("Agg")


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.fixture(scope="module")
def law():
    return fit(noisy_runs(CHINCHILLA_TRUTH, 0, 60), bootstrap=50)


@pytest.fixture(scope="module")
def sweep():
    x = np.geomspace(4, 64, 5)
    table = pd.concat([pd.DataFrame({"N": x, "D": D, "loss": x**-1.5 / D}) for D in (1e3, 1e4)])
    return fit(table, law="power", variable="N", bootstrap=40)


def test_fit_over_data_shows_every_run_and_the_law(ax, law):
    assert fits.fit_over_data(law, ax=ax) is ax
    assert len(ax.collections[0].get_offsets()) == 60
    line = ax.lines[0]
    assert len(ax.lines) == 5
    N = line.get_xdata()
    D = np.quantile(law.runs.D, 0.05, method="nearest")
    np.testing.assert_allclose(line.get_ydata(), law.loss(N, D))
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_power_law_over_data(ax, sweep):
    fits.fit_over_data(sweep, ax=ax)
    assert len(ax.lines) == 4
    assert len(ax.get_legend().get_texts()) == 2


def test_residuals_in_per_cent(ax, law):
    fits.residuals(law, ax=ax)
    shown = ax.collections[0].get_offsets()[:, 1]
    np.testing.assert_allclose(shown, 100 * (law.runs.loss / law.loss(law.runs.N, law.runs.D) - 1), atol=1e-6)


def test_contour_has_the_frontier(ax, law):
    fits.loss_contour(law, ax=ax)
    frontier = ax.lines[0]
    N, D = frontier.get_xdata(), frontier.get_ydata()
    best = (law.law.alpha * law.law.A * N**-law.law.alpha) / (law.law.beta * law.law.B * D**-law.law.beta)
    np.testing.assert_allclose(best, 1.0, rtol=1e-5)  # the first-order condition of C = 6 N D


def test_slices_mark_their_lowest_point(ax, law):
    fits.isoflop_slices(law, [1e20, 1e21], ax=ax)
    for curve, dot in (ax.lines[:2], ax.lines[2:]):
        assert dot.get_ydata()[0] <= min(curve.get_ydata()) + 1e-12


def test_profile(ax, law):
    fits.exponent_profile(exponent_profile(law, points=7), ax=ax, draws=law.draws[:, -2:])
    assert "alpha" in ax.get_xlabel()


def test_labels_cut_as_much_of_a_contour_as_they_cover(ax, law):
    """Placed before the axes are logarithmic, labels cut out between a twentieth and more than a decade."""
    fits.loss_contour(law, ax=ax)
    (lines,) = [part for part in ax.collections if isinstance(part, mpl.contour.ContourSet)]
    assert lines.labelTexts
    for path in lines.get_paths():
        parts = path.to_polygons(closed_only=False)
        ends = sorted(sorted(np.log10(part[[0, -1]]).tolist()) for part in parts)
        for (_, left), (right, _) in itertools.pairwise(ends):
            assert 0.1 < np.hypot(*np.subtract(left, right)) < 0.4


def test_a_power_law_has_no_contour(ax, sweep):
    with pytest.raises(InputError):
        fits.loss_contour(sweep, ax=ax)


def test_sizes_and_budgets_are_written_as_people_write_them():
    sizes = {7e9: "7B", 5.72342e7: "57.2M", 1.5e12: "1.5T", 300.0: "300", 4096.0: "4096", 9.99e14: "999T"}
    assert {value: short_size(value) for value in sizes} == sizes
    assert power_of_ten(1e21) == "$10^{21}$"
    assert power_of_ten(3.2e21) == r"$3.2\times 10^{21}$"
    assert power_of_ten(120.0) == "120"


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_legend_stands_above_all_data(scale):
    """Every mark lies below the legend's lower edge, the highest one in the middle included."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
    x = np.linspace(1.0, 10.0, 60)
    y = 5.0 - 0.15 * (x - 5.0) ** 2
    for i in range(5):
        ax.plot(x, y + 0.01 * i, label=f"curve {i}")
    ax.set_yscale(scale)
    legend_above(ax)
    figure.canvas.draw()
    edge = ax.get_legend().get_window_extent().y0
    assert ax.transData.transform((5.0, 5.04))[1] < edge
    plt.close(figure)


def test_a_flat_surface_is_drawn_without_lines(tmp_path, capsys):
    """Losses that depend on nothing: there is nothing to draw a line of, and the picture is drawn."""
    from sparselaw.cli import main

    places = [(n, d) for n in (5, 6, 7, 8) for d in (7, 8, 9)]
    rows = "".join(f"{10.0**n},{10.0**d},{2.5 + 0.01 * (7 * n * d % 5)}\n" for n, d in places)
    (tmp_path / "runs.csv").write_text(f"N,D,loss\n{rows}")
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(tmp_path / "runs.csv"), "--bootstrap", "0", "--plot", str(tmp_path / "x.svg")])
    err = capsys.readouterr().err
    assert stop.value.code == 0, err
    assert (tmp_path / "x.svg").stat().st_size > 1000


def test_without_axes_a_figure_is_made(law):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    made = fits.residuals(law)
    assert len(plt.get_fignums()) == len(before) + 1
    assert made.get_ylabel() == "loss above the fit (%)"
    plt.close(made.figure)


def test_a_notebook_stays_interactive_after_the_block():
    """Its first figure switches that on, inside of the block; other settings come back."""
    before = mpl.is_interactive(), mpl.rcParams["axes.grid"]
    try:
        mpl.interactive(False)
        with style():
            mpl.interactive(True)
        assert mpl.is_interactive()
        assert mpl.rcParams["axes.grid"] == before[1]
    finally:
        mpl.interactive(before[0])
