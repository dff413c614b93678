"""The table of trials and its summary, and the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from sparselaw.cli.app import _run
from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import Ridge
from sparselaw.sweeps.cells import summarise
from sparselaw.sweeps.runs_table import row_of
from sparselaw.sweeps.simulate import grid, simulate
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

MODEL = SparseInputs(alpha1=1.0, alpha2=0.3)


def test_frame_and_cells():
    runs = simulate(MODEL, N=[8, 500], D=300, seeds=10)
    assert list(runs.columns[:8]) == ["N", "D", "loss", "seed", "inputs", "features", "solver", "alpha1"]
    assert len(runs) == 20
    cells = summarise(runs)
    assert [(cell.N, cell.seeds) for cell in cells] == [(8, 10), (500, 10)]
    narrow = runs[runs["N"] == 8]["loss"]
    assert cells[0].mean == pytest.approx(narrow.mean())
    assert cells[0].stderr == pytest.approx(narrow.std() / math.sqrt(10))
    assert cells[1].method == "control"
    again = summarise(simulate(MODEL, N=[8, 500], D=300, seeds=10))
    assert again == cells


def test_control_variate_is_honest():
    """Over 40 cells of 20 seeds the truth is inside 2.1 standard errors about 95 times in 100.

    81 in 100 is four binomial deviations below. The truth is the mean of the cells, which is five times as
    sharp as that of the plain trials and has to agree with it. Plain means scatter more than twice as much.
    """
    D, N = 100, 60
    losses = simulate(MODEL, N=N, D=D, seeds=800)
    error = losses["loss"].std() / math.sqrt(len(losses))
    cells = [summarise(losses.iloc[i : i + 20])[0] for i in range(0, 800, 20)]
    assert {cell.method for cell in cells} == {"control"}
    means, stderrs = (np.array([getattr(cell, key) for cell in cells]) for key in ("mean", "stderr"))
    inside = np.abs(means - means.mean()) < 2.1 * stderrs
    assert 0.81 < inside.mean()
    assert np.mean(np.abs(means - means.mean()) < 0.7 * stderrs) < 0.82  # a half, and four deviations
    assert means.std() < 0.5 * losses["loss"].std() / math.sqrt(20)
    assert abs(means.mean() - losses["loss"].mean()) < 4 * error


def test_infinite_cells_have_no_mean_but_a_reason():
    cell = summarise(simulate(DenseInputs(alpha=1.0, dimension=50), N=9, D=9, seeds=3))[0]
    assert cell.mean is None
    assert cell.median is None
    assert cell.mean_reason == "3 of 3 trials infinite"
    assert cell.stderr_reason == cell.median_reason == cell.mean_reason


def test_rows_name_the_trial():
    task = Task(inputs=MODEL, N=4, D=50, solver=Ridge(ridge=0.3))
    row = row_of(task.identity(), run(task))
    assert (row["solver"], row["ridge"], row["averaged"]) == ("ridge", 0.3, "teacher+test+unseen")


@pytest.mark.parametrize("bad", [{"N": "8"}, {"N": 0}, {"D": 2.5}, {"seeds": 0}, {"solver": "ridge"}])
def test_bad_arguments_are_refused(bad):
    with pytest.raises(InputError):
        grid(MODEL, **{"N": 4, "D": 10, **bad})


@pytest.mark.parametrize("what", ["x", None, 3, {"alpha1": 1.0}])
def test_what_describes_no_inputs_is_refused(what):
    with pytest.raises(InputError, match="describes no inputs"):
        simulate(what, N=4, D=50)


ARGUMENTS = ["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "4,8", "-D", "100"]


def test_command_prints_one_json_object_and_writes_a_csv(capsys, tmp_path):
    out = tmp_path / "runs.csv"
    assert _run([*ARGUMENTS, "--seeds", "3", "--json", "--out", str(out)]) == 0
    first = capsys.readouterr().out
    cells = json.loads(first)["cells"]
    assert {"N", "D", "mean", "stderr", "median", "seeds", "theory"} <= set(cells[0])
    runs = pd.read_csv(out)
    assert len(runs) == 6
    assert {"N", "D", "loss", "seed", "inputs", "features", "solver", "alpha1", "dimension", "status"} <= set(
        runs
    )
    kept = out.read_bytes()
    assert _run([*ARGUMENTS, "--seeds", "3", "--json", "--out", str(out)]) == 0
    assert capsys.readouterr().out == first
    assert out.read_bytes() == kept


def test_command_prints_a_table(capsys):
    assert _run([*ARGUMENTS, "--seeds", "2", "--inputs", "dense", "--dimension", "60", "--raw"]) == 0
    assert "median" in capsys.readouterr().out


def test_theory_at_the_peak_carries_its_caution(capsys):
    peak = ["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "80,1000", "-D", "2000", "--seeds", "2"]
    assert _run(peak) == 0
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines() if " 2000 " in line]
    assert [row[-1] == "[1]" for row in rows] == [True, False]
    assert "theory [1]: at the double-descent peak" in printed.err
    assert _run([*peak, "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert ["caution" in cell for cell in cells] == [True, False]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--solver", "ridge"], "ridge=: is needed"),
        (["--ridge", "1"], "ridge=1: is not a setting of min-norm"),
        (["--solver", "sgd", "--passes", "0"], "passes=0"),
        (["--noise", "-1"], "noise=-1: must not be negative"),
        (["--inputs", "dense", "--dimension", "inf"], "dimension=inf"),
        (["--out", "runs.txt"], "out=runs.txt"),
        (["--out", "/nowhere/at/all.csv"], "cannot be written"),
        (["--seed", "-1"], "seed=-1"),
        (["--n-test", "5"], "n-test=5: has no effect without --raw"),
        (["--raw", "--n-test", "0"], "n-test=0: must be at least 1"),
        (["--features", "cosine"], "features=cosine"),
        (["--solver", "gd", "--steps", "5", "--step", "0"], "step=0"),
        (["-D", "1e15"], "needs about"),
    ],
)
def test_command_refuses_bad_input_in_one_line(capsys, extra, message):
    assert _run([*ARGUMENTS, *extra]) == 2
    error = capsys.readouterr().err
    assert error.startswith("sparselaw: error: ")
    assert error.count("\n") == 1
    assert message in error
