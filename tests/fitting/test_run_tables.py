"""Reading tables: every ending, other names, every bad row counted, every bad file one clear line."""

import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit, read_table
from sparselaw.fitting.clean_runs import clean_runs
from sparselaw.fitting.tables import find_columns


@pytest.fixture
def table():
    return noisy_runs(CHINCHILLA_TRUTH, 0, 40)


def test_every_ending_gives_the_same_fit(tmp_path, table):
    table.to_csv(tmp_path / "runs.csv", index=False)
    table.to_parquet(tmp_path / "runs.parquet")
    table.to_json(tmp_path / "runs.jsonl", orient="records", lines=True, double_precision=15)
    values = [fit(read_table(file), bootstrap=0).value for file in sorted(tmp_path.iterdir())]
    assert values == pytest.approx([values[0]] * 3, rel=1e-9)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["N", "D", "loss"], {"N": "N", "D": "D", "loss": "loss"}),
        (["params", "tokens", "final_loss"], {"N": "params", "D": "tokens", "loss": "final_loss"}),
        (["Model Size", "Training FLOP", "loss"], {"N": "Model Size", "loss": "loss", "C": "Training FLOP"}),
        (["n_params", "n_tokens", "val-loss", "flops"],
         {"N": "n_params", "D": "n_tokens", "loss": "val-loss", "C": "flops"}),
        (["N", "params", "D", "mean", "stderr"], {"N": "N", "D": "D", "loss": "mean", "stderr": "stderr"}),
        (["params_active_precise", "width", "tokens", "final_loss"],
         {"N": "params_active_precise", "D": "tokens", "loss": "final_loss"}),
    ],
)  # fmt: skip
def test_names_are_recognised(names, expected):
    assert find_columns(names) == expected


def test_names_can_be_given_and_must_exist():
    assert find_columns(["a", "b", "c"], {"N": "a", "D": "b", "loss": "c"}) == {
        "N": "a",
        "D": "b",
        "loss": "c",
    }
    with pytest.raises(InputError, match="is not in the table"):
        find_columns(["a"], {"N": "x"})
    with pytest.raises(InputError, match="is not a role"):
        find_columns(["a"], {"Q": "a"})
    with pytest.raises(InputError, match="could each be loss"):
        find_columns(["N", "D", "val_loss", "test_loss"])


def test_every_dropped_row_is_counted_by_reason(table):
    spoiled = table.astype(object)
    spoiled.loc[0, "loss"] = np.nan
    spoiled.loc[1, "loss"] = ""
    spoiled.loc[2, "loss"] = "abc"
    spoiled.loc[3, "loss"] = -1.0
    spoiled.loc[4, "N"] = 0
    spoiled.loc[5, "D"] = np.inf
    spoiled = pd.concat([spoiled, spoiled.iloc[[10, 10, 11]]])
    clean = clean_runs(spoiled)
    assert clean.dropped == {
        "loss missing": 2, "loss not a number": 1, "loss not positive": 1, "N not positive": 1,
        "D infinite": 1, "exact duplicate": 3,
    }  # fmt: skip
    assert len(clean.runs) + sum(clean.dropped.values()) == len(spoiled)


def test_equal_losses_of_different_seeds_are_no_duplicates(table):
    twice = pd.concat([table.assign(seed=0), table.assign(seed=1)])
    assert clean_runs(twice).dropped == {}
    assert clean_runs(pd.concat([table, table])).dropped == {"exact duplicate": 40}


def test_data_from_compute():
    clean = clean_runs({"N": [1e6, 2e6], "C": [6e12, 12e12], "loss": [3.0, 2.0]})
    np.testing.assert_allclose(clean.runs.D, [1e6, 1e6])
    assert clean.notes == ("D is missing: taken as C/(6N)",)


def test_standard_errors_weigh_the_rows(table):
    """A row with a wild loss and a huge standard error must not matter; without the error it must."""
    table["stderr"] = 0.005 * table.loss
    plain = fit(table, objective="least-squares", bootstrap=0)
    wild = table.copy()
    wild.loc[7, "loss"] *= 3.0
    wild.loc[7, "stderr"] = 1e4 * wild.loc[7, "loss"]
    weighted = fit(wild, objective="least-squares", bootstrap=0)
    unweighted = fit(wild.drop(columns="stderr"), objective="least-squares", bootstrap=0)
    without = fit(table.drop(index=7), objective="least-squares", bootstrap=0)
    assert weighted.params["alpha"].best == pytest.approx(without.params["alpha"].best, rel=1e-3)
    assert abs(unweighted.params["alpha"].best / plain.params["alpha"].best - 1) > 0.02
    partial = fit(table.assign(stderr=np.where(table.index == 3, np.nan, 0.01)), bootstrap=0)
    assert any("not weighted" in w for w in partial.warnings)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"N,D,loss\n", "a header and no rows"),
        ("blank.csv", b"\n\n", "not readable"),
        ("binary.csv", bytes(range(256)), "not readable"),
        ("ragged.csv", b"N,D,loss\n1,2,3\n1,2,3,4\n", "not readable"),
        ("broken.jsonl", b'{"N": 1, "D"\n', "not readable"),
        ("broken.parquet", b"x", "not readable"),
        ("runs.xlsx", b"x", "not readable|needs openpyxl"),
        ("runs.docx", b"x", "ends in '.docx'"),
    ],
)
def test_bad_files_are_refused_in_words(tmp_path, name, content, words):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_table(file)


def test_absent_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder without event files or tables"):
        read_table(tmp_path / "folder.csv")
    with pytest.raises(InputError, match="no column for loss"):
        fit({"N": [1.0], "D": [2.0]})
    with pytest.raises(InputError, match="is not a table"):
        fit({"N": [1.0], "D": [2.0, 3.0]})
    with pytest.raises(InputError, match="no usable row"):
        fit({"N": [1.0], "D": [2.0], "loss": [-1.0]})


@pytest.mark.slow
def test_a_200_mb_table(tmp_path):
    generator = np.random.Generator(np.random.PCG64(0))
    rows = 4_600_000
    N = np.exp(generator.uniform(np.log(5e7), np.log(1e10), rows)).round()
    D = np.exp(generator.uniform(np.log(1e9), np.log(5e11), rows)).round()
    loss = CHINCHILLA_TRUTH.loss(N, D) * np.exp(0.01 * generator.standard_normal(rows))
    file = tmp_path / "runs.csv"
    pd.DataFrame({"N": N, "D": D, "loss": loss}).to_csv(file, index=False)
    assert file.stat().st_size > 2e8
    found = fit(read_table(file), bootstrap=100)
    assert found.status == "ok"
    assert found.params["alpha"].best == pytest.approx(CHINCHILLA_TRUTH.alpha, rel=2e-3)
