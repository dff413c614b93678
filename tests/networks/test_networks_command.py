"""`sparselaw networks` and `train_networks`: sweeps that are kept, slopes with intervals, refusals."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.sweeps.cells import ratios
from sparselaw.sweeps.store import open_store
from sparselaw.trials.task import Record, Task

MODEL = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def run_command(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        main(["networks", *arguments.split()])
    shown = capsys.readouterr()
    return stop.value.code, shown.out, shown.err


def test_the_command_keeps_its_runs_and_gives_them_again(tmp_path, capsys):
    store, out = tmp_path / "runs.sqlite", tmp_path / "runs.csv"
    line = f"--alpha1 1 --alpha2 0.3 --width 8 -D 30,60,120 --seeds 3 --json --quiet --store {store}"
    code, first, _ = run_command(capsys, line)
    assert code == 0
    shown = json.loads(first)
    for cell in shown["cells"]:
        assert {"N", "D", "mean", "unseen", "ratio", "train", "statuses"} <= cell.keys()
        assert cell["ratio"]["low"] <= cell["ratio"]["best"] <= cell["ratio"]["high"]
    assert shown["ratio_slope"]["low"] < 0.0 < shown["ratio_slope"]["high"]
    with open_store(store) as kept:
        assert len(kept.runs()) == 9
        (study,) = kept.studies()
        assert study.identity["depth"] == 2
    assert run_command(capsys, f"{line} --out {out}")[1] == first
    table = pd.read_csv(out)
    assert set(table["network"]) == {"linear"}
    assert set(table["solver"]) == {"adam"}
    assert (table["train"] < table["loss"]).all()
    assert (table["sign_unseen"] > table["control"]).all()


def test_facts_need_alpha1_alone(tmp_path, capsys):
    line = f"--task facts --alpha1 1 --width 8 -D 50,100,200 --seeds 2 --quiet --store {tmp_path / 'a.db'}"
    code, table, notes = run_command(capsys, line)
    assert code == 0
    assert "facts" in table
    assert "slope of loss/unseen in D" in notes


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("--alpha1 1 --alpha2 0.3 -D 10 --network tanh", "network=tanh"),
        ("--alpha1 1 --alpha2 0.3 -D 10 --depth 1", "depth=1"),
        ("--alpha1 1 --alpha2 0.3 -D 10 --task facts", "alpha2=0.3"),
        ("--alpha1 1 --alpha2 0.3 -D 10 --task songs", "task=songs"),
        ("--alpha1 1 --alpha2 0.3 -D 10 --rate 0", "rate=0"),
        ("--alpha1 1 -D 10", "alpha2="),
        ("--alpha1 1 --alpha2 0.3 -D 1e9 --width 1e9", "N="),
    ],
)
def test_refusals_are_one_line(arguments, name, capsys):
    code, out, err = run_command(capsys, arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"sparselaw: error: {name}")
    assert err.count("\n") == 1


def records(statuses, losses):
    """Three data sizes, two seeds each, with these statuses and losses by size."""
    tasks = [Task(inputs=MODEL, N=4, D=D, seed=seed) for D in (10, 20, 40) for seed in range(2)]
    return [
        (task, Record(loss=losses[i // 2] * (1.0 + 0.01 * (i % 2)), status=statuses[i // 2], control=1.0))
        for i, task in enumerate(tasks)
    ]


def test_the_slope_is_that_of_the_ratio():
    study = ratios(records(["ok"] * 3, [1.0, 2.0, 4.0]))
    assert study.ratio_slope.best == pytest.approx(1.0)
    assert study.as_dict()["cells"][0]["ratio"]["best"] == pytest.approx(math.sqrt(1.01))
    assert "ratio" in study.to_frame()
    assert "slope" in study._repr_html_()


def test_no_exponent_where_the_optimiser_is_the_limit():
    study = ratios(records(["ok", "ok", "not-converged"], [1.0, 2.0, 4.0]))
    assert study.ratio_slope is None
    assert "2 runs not-converged" in study.ratio_slope_reason
    plain = study.as_dict()
    assert plain["ratio_slope"] is None
    assert plain["ratio_slope_reason"] == study.ratio_slope_reason
    assert study.width_slope is None
    lost = ratios(records(["ok", "ok", "diverged"], [1.0, 2.0, math.inf]))
    assert lost.as_dict()["cells"][2]["mean"] is None


def test_widths_have_a_slope_of_their_own():
    """Two-layer linear networks with more outputs than units: their loss falls with the width."""
    study = sl.train_networks(
        MODEL,
        sl.Network(),
        300,
        widths=[2, 4, 8],
        outputs=20,
        seeds=2,
        adam=sl.Adam(steps=1000, rate=0.03),
        workers=1,
    )
    assert study.width_slope.best < -1.0
    assert study.ratio_slope is None
