"""`sparselaw curve` as people call it."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oracles.made_curves import law_curves
from sparselaw.cli import main

SHAPES = ["constant:12000", "cosine:12000", "step:6000,12000"]


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = []
    for N, seed in ((1e8, 1), (2e8, 1), (4e8, 1)):
        for name, (step, rate, loss, _) in zip(SHAPES, law_curves(seed, SHAPES), strict=True):
            worse = 0.9 + 0.1 * (N / 1e8) ** -0.3
            table = {"run": f"{N:g} {name}", "N": N, "step": step, "tokens": 1e5 * step, "lr": rate}
            parts.append(pd.DataFrame({**table, "loss": loss * worse}))
    pd.concat(parts).to_csv("sizes.csv", index=False)
    pd.concat(parts[:3]).drop(columns="N").to_csv("curves.csv", index=False)
    schedule = pd.DataFrame({"step": [0, 1000, 9000, 14_000], "lr": [0.0, 3e-4, 3e-4, 0.0]})
    schedule.to_csv("plan.csv", index=False)


def run(capsys, *arguments, code=0):
    with pytest.raises(SystemExit) as stop:
        main(["curve", *arguments])
    out, err = capsys.readouterr()
    assert stop.value.code == code, err
    return out, err


def test_json_alone_is_on_standard_output(capsys):
    out, err = run(capsys, "curves.csv", "--schedule", "plan.csv", "--schedule", "cosine:24000", "--json")
    found = json.loads(out)
    assert [s["schedule"] for s in found["schedules"]] == ["plan.csv", "cosine:24000"]
    assert found["schedules"][0]["steps"] == 14_000
    assert {"run", "seen", "final"} <= set(found["curves"][0])
    assert {"params", "status", "warnings", "theory"} <= set(found)
    again, _ = run(capsys, "curves.csv", "--schedule", "plan.csv", "--schedule", "cosine:24000", "--json")
    assert again == out
    assert "Traceback" not in err


def test_tables_say_it_all(capsys):
    out, _ = run(capsys, "curves.csv", "--schedule", "cosine:24000", "--best", "12000")
    for words in (
        "final loss",
        "P(better)",
        "best of 14 for 12000 steps",
        "Back-test",
        "status",
        "parameter",
    ):
        assert words in out


def test_finals_are_runs_for_fit_and_forecast(capsys):
    shown, _ = run(capsys, "sizes.csv", "--final", "--out", "finals.csv")
    assert "100M   1.2B" in shown
    finals = pd.read_csv("finals.csv")
    assert {"N", "D", "loss", "stderr"} <= set(finals)
    np.testing.assert_allclose(finals["D"], 1e5 * finals["steps"])
    with pytest.raises(SystemExit) as stop:
        main(["fit", "finals.csv", "--law", "power", "--variable", "N", "--bootstrap", "0", "--json"])
    assert stop.value.code == 0
    assert json.loads(capsys.readouterr().out)["rows_used"] == 9
    out, _ = run(capsys, "sizes.csv", "--final", "--json")
    assert len(json.loads(out)["finals"]) == 9


def test_data_in_steps_are_said(capsys):
    pd.read_csv("curves.csv").drop(columns="tokens").to_csv("bare.csv", index=False)
    _, err = run(capsys, "bare.csv", "--final", "--out", "finals.csv")
    assert "D is in units of step" in err


def test_another_size(capsys):
    out, err = run(capsys, "sizes.csv", "--schedule", "cosine:12000", "-N", "8e8", "--json")
    (end,) = json.loads(out)["schedules"]
    assert end["N"] == 8e8
    assert "N = 800M: no curve of this size" in err


def test_a_picture_and_a_page(capsys):
    run(capsys, "curves.csv", "--schedule", "cosine:24000", "--plot", "out.svg", "--report", "out.html")
    assert ET.parse("out.svg").getroot().tag.endswith("svg")
    page = Path("out.html").read_text("utf-8")
    assert "Loss curves under learning-rate schedules" in page
    assert "cosine:24000" in page
    assert "P(better)" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no.csv"], "file=no.csv: does not exist"),
        (["curves.csv", "--schedule", "zig:3"], "is neither a shape nor a file"),
        (["curves.csv", "--schedule", "nofile.csv"], "does not exist"),
        (["curves.csv", "--warmup", "x"], "warmup=x: is not a number"),
        (["curves.csv", "--out", "f.csv"], "is given without --final"),
        (["curves.csv", "--final", "--out", "f.txt"], "let it end in .csv or .parquet"),
        (["curves.csv", "--final", "--out", "curves.csv"], "out=curves.csv"),
        (["curves.csv", "--plot", "f.gif"], "has another ending"),
        (["curves.csv", "--best", "0.5"], "best"),
        (["curves.csv", "--columns", "lr=rate"], "is not in the table"),
        (["curves.csv", "--shape", "cosine"], "is not the rate that"),
    ],
)
def test_refusals_are_one_line(arguments, words, capsys):
    out, err = run(capsys, *arguments, code=2)
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
