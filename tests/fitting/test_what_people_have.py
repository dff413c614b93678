"""Tables as people have them: separators, decimal commas, sizes in words, packed files, folders of runs."""

import contextlib
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit, read_table
from sparselaw.fitting.clean_runs import clean_runs
from sparselaw.fitting.tables import floats, table_of


@pytest.fixture
def table():
    return noisy_runs(CHINCHILLA_TRUTH, 0, 40).round({"N": 0, "D": 0})


def same(found, table):
    runs = clean_runs(found).runs
    table = table.sort_values(["D", "N"])  # as runs are, whatever the order of the table
    for name in ("N", "D", "loss"):
        np.testing.assert_allclose(runs.sizes.get(name, runs.loss), table[name], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("runs.csv", {"sep": ";"}),
        ("runs.csv", {"sep": ";", "decimal": ","}),
        ("runs.csv", {"sep": "\t"}),
        ("runs.txt", {"sep": "|"}),
        ("runs.tsv", {"sep": "\t", "decimal": ","}),
        ("runs.csv.gz", {}),
        ("runs.tsv.gz", {"sep": "\t"}),
    ],
)
def test_separators_and_packed_files(tmp_path, table, name, form):
    table.to_csv(tmp_path / name, index=False, **form)
    same(read_table(tmp_path / name), table)


@pytest.mark.parametrize("packed", [False, True])
def test_json_in_every_shape(tmp_path, table, packed):
    import gzip

    rows = table.to_dict("records")
    nested = [
        {
            "name": f"r{i}",
            "config": {"n_params": r["N"]},
            "summary": {"tokens": r["D"], "val_loss": r["loss"]},
        }
        for i, r in enumerate(rows)
    ]
    shapes = [rows, {"runs": rows, "note": "x"}, table.to_dict("list"), nested]
    for i, shape in enumerate(shapes):
        file = tmp_path / f"{i}.json{'.gz' * packed}"
        content = json.dumps(shape).encode()
        file.write_bytes(gzip.compress(content) if packed else content)
        same(read_table(file), table)
    lines = tmp_path / "lines.json"
    lines.write_text("\n".join(json.dumps(row) for row in rows))
    same(read_table(lines), table)


def test_excel(tmp_path, table):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'sparselaw[excel]'")
    table.to_excel(tmp_path / "runs.xlsx", index=False)
    same(read_table(tmp_path / "runs.xlsx"), table)


def test_standard_input(monkeypatch, table):
    for text in (
        table.to_csv(index=False),
        table.to_csv(index=False, sep=";"),
        table.to_json(orient="records", double_precision=15),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        same(read_table("-"), table)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="file=-: is empty"):
        read_table("-")


def test_sizes_in_words():
    frame = pd.DataFrame({"N": ["10M", "7B", "1,000,000", "350m", "1.3 B", "many", None, 5.0, "1,5"]})
    expected = [1e7, 7e9, 1e6, 3.5e8, 1.3e9, np.nan, np.nan, 5.0, np.nan]
    np.testing.assert_allclose(floats(table_of(frame)["N"]), expected)
    table = pd.DataFrame({"N": ["10M", "7B"], "D": ["1,000,000,000", "2T tokens"], "loss": ["3.5", "2.0"]})
    assert clean_runs(table).dropped == {}


def test_whole_thousands_among_semicolons_are_not_decimals(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("N;D;loss\n1,000,000;20,000,000;3.5\n2,000,000;30,000,000;3.1\n")
    assert clean_runs(read_table(file)).runs.N.tolist() == [1e6, 2e6]


def test_a_decimal_comma_among_commas_is_named(tmp_path):
    file = tmp_path / "runs.csv"
    for rows in ("1,2,3\n1000,2000,2,34\n", "1000,2000,2,34\n1000,3000,2,11\n"):
        file.write_text("N,D,loss\n" + rows)
        with pytest.raises(InputError, match=r"4 cells and the header 3, with commas.*decimal commas"):
            read_table(file)


def test_a_hundred_columns_do_not_hide_the_advice(table):
    wide = pd.DataFrame(np.ones((3, 100)), columns=[f"column {i}" for i in range(100)])
    for settings in ({}, {"columns": {"N": "zzz"}}, {"group": "zzz"}):
        frame = wide if "group" not in settings else table.join(wide)
        with pytest.raises(InputError) as refusal:
            fit(frame, bootstrap=0, **settings)
        assert len(str(refusal.value)) < 250


def test_a_folder_of_event_files(tmp_path):
    tensorboardX = pytest.importorskip(
        "tensorboardX", reason="tensorboardX is not installed: pip install 'sparselaw[tensorboard]'"
    )
    for name, N in (("small", 1e7), ("large", 1e8)):
        with tensorboardX.SummaryWriter(str(tmp_path / "logs" / name)) as writer:
            writer.add_scalar("params", N, 0)
            for step in (100, 200, 300):
                writer.add_scalar("tokens", step * 1e6, step)
                writer.add_scalar("train/loss", 9.0, step)
                writer.add_scalar("val/loss", CHINCHILLA_TRUTH.loss(N, step * 1e6), step)
    found = read_table(tmp_path / "logs")
    assert sorted(found["run"].unique()) == ["large", "small"]
    runs = clean_runs(found, group="run").runs
    assert len(runs) == 6
    np.testing.assert_allclose(runs.loss, CHINCHILLA_TRUTH.loss(runs.N, runs.D), rtol=1e-6)
    file = next((tmp_path / "logs" / "large").iterdir())
    file.write_bytes(file.read_bytes()[:-7])  # a run killed while it wrote
    assert len(read_table(tmp_path / "logs")) == 5


def test_a_folder_of_exported_histories(tmp_path):
    for name, N in (("small", 1e7), ("large", 1e8)):
        D = np.array([1e8, 2e8, 3e8])
        history = pd.DataFrame({"_step": [1, 2, 3], "params": [N, None, None], "tokens": D})
        history["eval_loss"] = CHINCHILLA_TRUTH.loss(N, D)
        history.to_csv(tmp_path / f"{name}.csv", index=False)
    runs = clean_runs(read_table(tmp_path), group="run").runs
    assert len(runs) == 6
    np.testing.assert_allclose(runs.loss, CHINCHILLA_TRUTH.loss(runs.N, runs.D), rtol=1e-9)


def test_charts_exported_from_wandb(tmp_path):
    """One file for each chart, in it a column for each run and its range."""
    D = np.array([1e8, 2e8, 3e8])
    sizes = {"run-a": 1e7, "run-b": 1e8}
    charts = {
        "val_loss": lambda N: CHINCHILLA_TRUTH.loss(N, D),
        "tokens": lambda _: D,
        "params": lambda N: N + 0 * D,
    }
    for metric, value in charts.items():
        chart = pd.DataFrame({"Step": [1, 2, 3]})
        for run, N in sizes.items():
            for end in ("", "__MIN", "__MAX"):
                chart[f"{run} - {metric}{end}"] = value(N)
        chart.to_csv(tmp_path / f"wandb_export_{metric}.csv", index=False)
    found = read_table(tmp_path)
    assert len(found) == 6
    runs = clean_runs(found, group="run").runs
    np.testing.assert_allclose(runs.loss, CHINCHILLA_TRUTH.loss(runs.N, runs.D), rtol=1e-9)


DATA = Path(__file__).parent / "data"


def test_runs_that_wandb_kept(tmp_path):
    """Real files of wandb 0.31, written offline: three steps each, params in the config, a table logged."""
    folder = shutil.copytree(DATA / "wandb", tmp_path / "wandb")
    found = read_table(folder)
    assert sorted(found["run"].unique()) == ["large", "small"]
    assert set(found["layers"]) == {4}
    runs = clean_runs(found, group="run", columns={"loss": "val/loss"}).runs
    assert len(runs) == 6
    np.testing.assert_allclose(runs.loss, 1.8 + 480 * runs.N**-0.35 + 2100 * runs.D**-0.37, rtol=1e-9)
    large = folder / "run-large.wandb"
    assert len(read_table(large)) == 3
    whole = large.read_bytes()
    for cut in range(
        8, len(whole), 97
    ):  # a run killed while it wrote: a line of ours or fewer rows, no crash
        large.write_bytes(whole[:cut])
        with contextlib.suppress(InputError):
            assert len(read_table(large)) <= 3
    (tmp_path / "other.wandb").write_bytes(b"N,D,loss\n1,2,3\n")
    with pytest.raises(InputError, match="no run of wandb"):
        read_table(tmp_path / "other.wandb")


def test_a_table_logged_with_wandb():
    runs = clean_runs(read_table(DATA / "runs.table.json")).runs
    assert len(runs) == 4
    np.testing.assert_allclose(runs.loss, 1.8 + 480 * runs.N**-0.35 + 2100 * runs.D**-0.37, rtol=1e-9)
