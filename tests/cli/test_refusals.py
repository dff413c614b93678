"""Input that cannot be used is refused at once: exit 2, one line, nothing run."""

import gzip

import numpy as np
import pandas as pd
import pytest

from sparselaw.cli import main

MODEL = ["--alpha1", "1", "--alpha2", "0.3"]


@pytest.fixture
def runs(tmp_path):
    rng = np.random.default_rng(0)
    N, D = rng.uniform(1e7, 1e9, 30).round(), rng.uniform(1e9, 1e11, 30).round()
    path = tmp_path / "runs.csv"
    pd.DataFrame({"N": N, "D": D, "loss": 1.8 + 400 * N**-0.35 + 2000 * D**-0.37}).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (
            ["simulate", *MODEL, "-N", "8", "-D", "100", "--seeds", "1e9"],
            "seeds=1000000000: makes 1e+09 runs",
        ),
        (["simulate", "--alpha1", "0.01", "--alpha2", "0.3", "-N", "8", "-D", "10"], "alpha1=0.01"),
        (
            ["simulate", *MODEL, "-N", "8", "-D", "10", "--scheduler", "foo"],
            "scheduler=foo: is not an address",
        ),
        (["simulate", *MODEL, "-N", "8", "-D", "10", "--seed", "-1"], "seed=-1: must be a whole number"),
        (["simulate", *MODEL, "-N", "9" * 400, "-D", "10"], "N="),
        (["predict", *MODEL, "--ridge", "-1"], "ridge=-1: must not be negative"),
        (
            ["predict", "--alpha1", "1e-6", "--alpha2", "0.3", "-N", "9", "-D", "99", "--features", "tanh"],
            "alpha1=1e-06: has 1,000,001 coordinates in a sample, too many for a theory of nonlinear",
        ),
        (["predict", *MODEL, "-N", "30", "-D", "200", "--ridge", "1e308"], "ridge=1e+308: is beyond"),
        (["predict", *MODEL, "-N", "4:90:30", "-D", "200", "--ridge", "1e308"], "ridge=1e+308: is beyond"),
        (["predict", *MODEL, "-N", "30", "-D", "200", "--ridge", "1e-310"], "ridge=1e-310: is beyond"),
        (["predict", *MODEL, "-N", "1e300", "-D", "1e300"], "D=1e+300: is beyond"),
        (
            ["predict", "--alpha", "1", "-N", "9", "-D", "9", "--ridge", "1e308", "--inputs", "dense"],
            "ridge=1e+308",
        ),
        (["predict", *MODEL, "-N", "30", "-D", "200", "--teacher", "1e308"], "teacher=1e+308: is too large"),
        (["predict", *MODEL, "-N", "30", "-D", "200", "--teacher", "1e18"], "teacher=1e+18: is too large"),
        (["failure", *MODEL, "-D", "10", "--threshold", "2", "-N", "1e308"], "N=1e+308: is too large"),
        (
            ["plan", *MODEL, "--budget", "1e12", "--inference-tokens", "1e308"],
            "inference-tokens=1e+308: is too",
        ),
        (["predict", *MODEL, "-N", "4:8:0", "-D", "9"], "count of N=0"),
        (["plan", *MODEL, "--budget", "1e6", "--unique-data", "1e-310"], "unique-data=1e-310: is less than"),
        (["failure", *MODEL, "-D", "10", "--threshold", "2", "--seed", "0.5"], "seed=0.5"),
        (["plan", *MODEL, "--budget", "1e12", "--group", "x"], "group=x: has no effect"),
        (["plan", *MODEL, "--budget", "nan"], "budget=nan"),
        (["runs", "export", "--out", "a.csv", "--status", "foo"], "status=foo"),
        (["reproduce", "figure-1", "--out", ""], "out="),
        (["reproduce", "figure-9", "--out", "x"], "names=figure-9"),
        (["networks", *MODEL, "--task", "foo", "-D", "10"], "task=foo: is not one of the choices"),
        (["runs", "list", "--store", "no.sqlite"], "store="),
        (["fit", "no.csv"], "file=no.csv: does not exist"),
        (["forecast", "no.csv", "--at", "N=1e9,D=1e9"], "file=no.csv: does not exist"),
        (["measure", "no.npz"], "file=no.npz: does not exist"),
        (["learn", "no.npz"], "file=no.npz: does not exist"),
        (["explore", "--port", "99999999", "--no-browser"], "port=99999999"),
        (["explore", "--host", "256.1.1.1", "--no-browser"], "port=0: cannot be listened on at 256.1.1.1"),
        (["doctor", "more"], "arguments="),
        (["nothing"], "arguments="),
    ],
)
def test_refused(arguments, start, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert err.startswith(f"sparselaw: error: {start}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "start"),
    [
        (["--columns", "N=N,N=D"], "columns=N=N,N=D: names a role twice"),
        (["--dimension", "50"], "dimension=50: has no effect"),
        (["--law", "power"], "law=power: has one size"),
    ],
)
def test_refused_with_a_table(runs, options, start, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", runs, "--budget", "1e20", *options])
    assert stop.value.code == 2
    assert start in capsys.readouterr().err


def test_a_plan_at_the_end_of_the_spectrum_is_an_artefact_and_says_so(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", *MODEL, "--inputs", "dense", "--budget", "1e12", "--json"])
    assert stop.value.code == 0
    assert "artefact" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "x.csv.gz", "x.csv.gz", "--budget", "1e21"],
        ["curve", "x.csv.gz"],
        ["next", "x.csv.gz", "--budget", "1e21", "--spend", "1e19"],
        ["next", "runs.csv", "--budget", "1e21", "--spend", "1e19", "--sizes", "x.csv.gz"],
    ],
)
def test_a_packed_table_is_refused_with_an_option_that_the_command_has(
    arguments, tmp_path, monkeypatch, capsys
):
    """The remedy names --max-size, also where a table is read part by part or only for its sizes."""
    monkeypatch.chdir(tmp_path)
    packed = gzip.compress(b"N,D,loss\n" + b"1e8,1e9,3\n" * 2_000_000)
    (tmp_path / "x.csv.gz").write_bytes(packed)
    (tmp_path / "runs.csv").write_text("N,D,loss\n1e8,1e9,3\n")
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--max-size", "2MB"])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "unpacks to more than" in said
    assert "--max-size" in said
