"""The theory of nonlinear features against the engine: N-limited, D-limited and both, sparse and dense.

nonlinear_cells.csv names the cells; a dense one has no alpha1, its alpha stands under alpha2. Losses of both
sizes, of few features, of an activation with a jump and of an even one carry a caution. ``pytest -m
agreement -s`` prints the table of docs/nonlinear.md.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import sparselaw as sl
from sparselaw.nonlinear.two_sided import SURE
from sparselaw.sweeps.cells import summarise

CELLS = Path(__file__).with_name("nonlinear_cells.csv")


def cells():
    with CELLS.open(encoding="ascii", newline="") as lines:
        return list(csv.DictReader(lines))


def inputs_of(cell):
    if cell["alpha1"] == "":
        return sl.DenseInputs(alpha=float(cell["alpha2"]), dimension=1000)
    return sl.SparseInputs(alpha1=float(cell["alpha1"]), alpha2=float(cell["alpha2"]))


@pytest.mark.agreement
@pytest.mark.parametrize("cell", cells(), ids=lambda c: "-".join(c.values()))
def test_a_cell(cell):
    """One size alone: within 5 % or two standard errors. Otherwise within its own error, with a caution."""
    inputs, N, D = inputs_of(cell), int(cell["N"]), int(cell["D"])
    runs = sl.simulate(inputs, N=N, D=D, seeds=int(cell["seeds"]), features=cell["features"], workers=1)
    (found,) = summarise(runs)
    point = sl.predict(inputs, N=N, D=D, features=cell["features"])
    assert found.theory == point.loss
    ratio, sigma = point.loss / found.mean, found.stderr / found.mean
    name = f"({cell['alpha1']}, {cell['alpha2']})" if cell["alpha1"] else f"dense {cell['alpha2']}"
    print(
        f"| {cell['features']} | {name} | {cell['kind']} | {N:,} | {D:,} | {found.mean:.3g} | "
        f"{ratio:.3f} | {sigma:.1%} | {point.loss_error:.1%} |",
        flush=True,
    )
    trusted = cell["kind"] in {"features", "data"} and point.caution == ""
    assert trusted or point.caution
    if cell["kind"] == "features":
        assert trusted or "both sizes" in point.caution
    allowed = 0.05 if trusted else max(point.loss_error, SURE) + 0.02
    assert abs(ratio - 1.0) < max(allowed, 2.0 * sigma), (ratio, sigma, point)


def test_the_table_is_large_enough():
    found = cells()
    assert len(found) >= 70
    assert {c["features"] for c in found} == {"relu", "tanh", "erf", "gelu", "sign", "abs"}
    assert len({(c["alpha1"], c["alpha2"]) for c in found if c["alpha1"]}) >= 5
    assert {c["kind"] for c in found} == {"features", "data", "both", "few", "jump", "even", "curved"}
