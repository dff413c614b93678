"""`sparselaw runs` as people type it."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from sparselaw.inputs import DenseInputs, TabulatedInputs
from sparselaw.solvers import Ridge
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.store import open_store
from sparselaw.trials.task import Record
from sweeps import functions


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.sqlite"
    dense = grid(DenseInputs(alpha=1.0), N=[2], D=[5], seeds=2, solver=Ridge(ridge=0.5))
    with open_store(path) as opened:
        opened.add((task, functions.plain(task), 0.1) for task in functions.study())
        opened.add((task, Record(loss=math.nan, status="failed", reason="a, b"), 0.1) for task in dense)
    return path


@pytest.mark.parametrize("words", [["runs"], ["runs", "list"]])
def test_list(sparselaw, store, words):
    code, out, err = sparselaw(*words, "--store", store, "--json")
    assert (code, err) == (0, "")
    sparse, dense = json.loads(out)["studies"]
    assert (sparse["runs"], sparse["cells"], sparse["seeds"], sparse["failed"]) == (60, 20, 3, 0)
    assert (sparse["N"], sparse["problem"]["alpha2"]) == ({"smallest": 1, "largest": 20}, 0.3)
    assert (dense["failed"], dense["solver"]) == (2, {"name": "ridge", "ridge": 0.5})
    code, out, _ = sparselaw(*words, "--store", store)
    assert code == 0
    assert sparse["study"] in out
    assert "ridge" in out


def test_a_study_of_a_table_is_listed_by_its_digest(sparselaw, tmp_path):
    inputs = TabulatedInputs([1.0, 0.5, 0.25], [1.0, 0.7, 0.5])
    with open_store(tmp_path / "t.sqlite") as opened:
        opened.add((task, Record(loss=0.1, status="ok"), 0.1) for task in grid(inputs, N=[2], D=[5], seeds=2))
    code, out, _ = sparselaw("runs", "--store", tmp_path / "t.sqlite")
    assert code == 0
    assert f"table={inputs.parameters()['table'][:12]}" in out


def test_export(sparselaw, store, tmp_path):
    code, out, err = sparselaw("runs", "export", "--store", store, "--out", tmp_path / "a.csv")
    assert (code, out, "62 runs written" in err) == (0, "", True)
    table = pd.read_csv(tmp_path / "a.csv")
    assert list(table.columns[:3]) == ["N", "D", "loss"]
    expected = {"seed", "inputs", "features", "solver", "alpha1", "alpha2", "dimension", "status", "ridge"}
    assert expected <= set(table.columns)
    failed = table[table.status == "failed"]
    assert (len(failed), failed.loss.isna().all(), set(failed.reason)) == (2, True, {"a, b"})
    one = table[(table.N == 3) & (table.seed == 1)].iloc[0]
    assert one.loss == functions.plain(functions.study()[7]).loss  # every digit
    sparselaw("runs", "export", "--store", store, "--out", tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "a.parquet"), table, check_dtype=False, check_exact=True
    )


def test_export_of_one_study_and_status(sparselaw, store, tmp_path):
    first = json.loads(sparselaw("runs", "--store", store, "--json")[1])["studies"][0]["study"]
    options = ["--store", store, "--out", tmp_path / "a.csv", "--json"]
    assert json.loads(sparselaw("runs", "export", *options, "--study", first)[1])["runs"] == 60
    assert json.loads(sparselaw("runs", "export", *options, "--status", "failed")[1])["runs"] == 2
    assert (
        json.loads(sparselaw("runs", "export", *options, "--study", first, "--status", "diverged")[1])["runs"]
        == 0
    )


def test_prune(sparselaw, store):
    for options, deleted in [
        (["--older-than", "1"], 0),
        (["--old-engine"], 0),
        (["--status", "failed"], 2),
        (["--older-than", "0"], 60),
    ]:
        code, out, _ = sparselaw("runs", "prune", "--store", store, *options, "--json")
        assert (code, json.loads(out)["deleted"]) == (0, deleted)


@pytest.mark.parametrize(
    "words",
    [
        ["prune"],
        ["prune", "--older-than", "soon"],
        ["prune", "--older-than", "-1"],
        ["prune", "--study", "none"],
        ["export", "--out", "x.txt"],
        ["export", "--out", "no/folder/x.csv"],
        ["export"],
        ["export", "--out", "x.csv", "--study", "none"],
        ["list", "--nonsense"],
    ],
)
def test_bad_input_is_one_line(sparselaw, store, words):
    code, out, err = sparselaw("runs", words[0], "--store", store, *words[1:])
    assert (code, out) == (2, "")
    assert err.startswith("sparselaw: error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["export", "--out", "x.csv"], ["prune", "--status", "failed"]])
def test_a_named_store_that_is_not_there_is_not_made(sparselaw, tmp_path, words):
    code, _, err = sparselaw("runs", *words, "--store", tmp_path / "none.sqlite")
    assert (code, "does not exist" in err, list(tmp_path.iterdir())) == (2, True, [])


def test_default_store(sparselaw, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    code, out, err = sparselaw("runs", "--json")
    assert (code, err, json.loads(out)["studies"]) == (0, "", [])
    assert sparselaw("runs", "prune", "--status", "failed")[0] == 2
