"""Tables of the pages that a script prints from a kept CSV are what it prints."""

import csv
import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest

from oracles.nonlinear import every_pattern
from sparselaw.fitting import sparsity
from sparselaw.inputs import SparseInputs

ROOT = Path(__file__).parent.parent
CASES = {
    "activations_side_by_side.py": "findings.md",
    "relu_exponent_at_large_width.py": "findings.md",
}


@pytest.mark.parametrize(("script", "page"), CASES.items())
def test_a_page_shows_what_the_script_prints(script, page, capsys):
    runpy.run_path(str(ROOT / "benchmarks" / script))["table"]()
    printed = [line for line in capsys.readouterr().out.splitlines() if line]
    shown = (ROOT / "docs" / page).read_text("utf-8")
    assert len(printed) > 5
    assert f"python benchmarks/{script} table" in shown
    assert [line for line in printed if line not in shown.splitlines()] == []


def test_a_layer_on_endless_data_by_every_pattern():
    """Three units of six coordinates: least squares on all 486 samples, weighted by their probability."""
    N, model = 3, SparseInputs(alpha1=1.0, alpha2=0.3, dimension=6)
    script = runpy.run_path(str(ROOT / "benchmarks" / "relu_exponent_at_large_width.py"))
    found = script["loss_of_layer"](N, 5, head=81, rest=0, model=model)
    assert found["patterns"] == 3**5  # up to sign
    assert found["mass"] == pytest.approx(1.0, rel=1e-12)
    u = np.random.default_rng([N, 5]).standard_normal((6, N)) / np.sqrt(N)
    X, chance = every_pattern(model)
    root = np.sqrt(chance)
    features, targets = np.maximum(u.T @ X, 0.0) * root, X * root
    theta = np.linalg.lstsq(features.T, targets.T, rcond=None)[0]
    assert found["loss"] == pytest.approx(np.sum((targets.T - features.T @ theta) ** 2), rel=1e-10)


def rows_below(page, head):
    """The cells of every row of the table whose first line is ``head``."""
    lines = iter((ROOT / "docs" / page).read_text("utf-8").splitlines())
    assert head in lines
    next(lines)
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines)
    ]


def test_couplings_of_the_theory_are_those_that_fit_compares_with():
    head = "| alpha_N | dense, best ridge | sparse, best ridge, alpha1 = 0.2 | 0.5 | 1 | one pass |"
    rows = rows_below("training.md", head)
    shown = {float(row[0]): row[1:] for row in rows if row[0] != "rms"}
    assert tuple(shown) == sparsity.MAP_ALPHA_N
    for column, name in ((0, "dense, best ridge"), (4, "one pass")):
        found = tuple(float(row[column]) for row in shown.values())
        assert found == sparsity.MAP[name]
    for column, values in enumerate(sparsity.SPARSE_MAP.values(), start=1):
        assert tuple(float(shown[alpha][column]) for alpha in sparsity.SPARSE_MAP_ALPHA_N) == values


def test_couplings_of_real_runs_are_those_of_the_kept_table():
    kept = csv.DictReader((ROOT / "docs/results/coupling.csv").open(encoding="utf-8"))
    expected = [
        [row["set"], f"{float(row['alpha_best']):.2f}",
         f"{float(row['g_best']):.2f} [{float(row['g_low']):.2f}, {float(row['g_high']):.2f}]"]
        for row in kept
    ]  # fmt: skip
    rows = rows_below("training.md", "| set | runs | alpha | beta | g | compatible |")
    assert [[row[0], row[2], row[4]] for row in rows] == expected


def test_cells_of_simulated_training_are_the_kept_ones():
    kept = csv.DictReader((ROOT / "tests/agreement/training_cells.csv").open(encoding="utf-8"))
    sizes = ("D", "passes", "step", "batch", "noise", "seeds")
    expected = [
        [f"{row['alpha1']}, {row['alpha2']}", row["N"], *(row[name] for name in sizes),
         f"{float(row['mean']):.3g} ± {float(row['stderr']) / float(row['mean']):.1%}".replace("%", " %")]
        for row in kept
    ]  # fmt: skip
    head = (
        "| alpha1, alpha2 | N | D | passes | step | batch | noise | seeds | simulated | predicted | error |"
    )
    shown = [
        [row[0], *(cell.replace(",", "") for cell in row[1:9])] for row in rows_below("training.md", head)
    ]
    assert shown == expected
