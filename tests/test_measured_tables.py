"""Tables of the pages that a script prints from a kept CSV are what it prints."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from oracles.nonlinear import every_pattern
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
