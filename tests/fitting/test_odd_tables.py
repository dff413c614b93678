"""Headers and cells that tell two stories: refused, or said; never guessed, never a traceback."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main
from sparselaw.errors import InputError
from sparselaw.fitting import read_table
from sparselaw.fitting.clean_runs import clean_runs
from sparselaw.fitting.tables import duplicated, labels, table_of


@pytest.fixture
def table():
    return noisy_runs(CHINCHILLA_TRUTH, 0, 40)


def command(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code, capsys.readouterr().err


def test_one_column_has_one_role(capsys, tmp_path, table):
    table.to_csv(tmp_path / "runs.csv", index=False)
    code, err = command(capsys, "fit", tmp_path / "runs.csv", "--columns", "N=D,D=D")
    assert (code, err.count("\n")) == (2, 1)
    assert "one column for two roles" in err
    for columns in ({"N": "D", "D": "D"}, {"N": "D"}, {"loss": "N"}):
        with pytest.raises(InputError):
            sl.fit(table, columns=columns)


def test_a_header_with_two_candidates_is_refused(capsys, tmp_path, table):
    N, D, loss = table["N"], table["D"], table["loss"]
    twice = pd.concat([N, D, loss, 2 * loss], axis=1)
    twice.columns = ["N", "D", "loss", "loss"]
    twice.to_csv(tmp_path / "twice.csv", index=False)
    for source in (twice, tmp_path / "twice.csv", read_table(tmp_path / "twice.csv")):
        with pytest.raises(InputError, match=r"loss, loss: could each be loss; rename one"):
            sl.fit(source)
    code, err = command(capsys, "fit", tmp_path / "twice.csv")
    assert (code, err.count("\n")) == (2, 1)
    with pytest.raises(InputError, match=r"N, n: could each be N; say which: columns N=N"):
        sl.fit(table.assign(n=2 * N))
    with pytest.raises(InputError, match="could each be loss"):
        sl.fit(table.rename(columns={"loss": "val_loss"}).assign(test_loss=loss))
    assert sl.fit(table.assign(n=2 * N), columns={"N": "N"}, bootstrap=0).status == "ok"


def test_a_sheet_with_a_name_twice_is_refused(capsys, tmp_path, table):
    pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    twice = pd.concat([table[["N", "D", "loss"]], 2 * table["loss"]], axis=1)
    twice.to_excel(tmp_path / "twice.xlsx", index=False)
    code, err = command(capsys, "fit", tmp_path / "twice.xlsx", "--bootstrap", "0")
    assert (code, err.count("\n")) == (2, 1)
    assert "loss, loss: could each be loss; rename one" in err


def test_a_sheet_keeps_names_that_look_like_a_second(tmp_path, table):
    pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    table[["N", "D", "loss"]].assign(**{"loss.1": 1.0}).to_excel(tmp_path / "one.xlsx", index=False)
    assert list(read_table(tmp_path / "one.xlsx").columns) == ["N", "D", "loss", "loss.1"]


@pytest.mark.parametrize("name", ["twice.jsonl", "twice.json", "twice.jsonl.gz"])
def test_an_object_with_a_name_twice_is_refused(tmp_path, name):
    lines = ['{"N": 1, "D": 2, "loss": 3}', "", '{"N": 1, "D": 2, "loss": 3, "loss": 4}']
    text = f"[{lines[0]}, {lines[2]}]" if name.endswith(".json") else "\n".join(lines)
    content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="names loss twice"):
        read_table(tmp_path / name)


def test_a_conventional_choice_is_said(table):
    both = table.rename(columns={"loss": "val_loss"}).assign(train_loss=0.9 * table["loss"])
    found = sl.fit(both, bootstrap=0)
    assert found.value == sl.fit(table, bootstrap=0).value
    assert "loss is the column val_loss, not train_loss" in found.warnings
    named = sl.fit(table.assign(params=table["N"]), bootstrap=0)
    assert "N is the column N, not params" in named.warnings
    wide = table.rename(columns={"N": "params", "D": "tokens"}).assign(width=table["N"], samples=1, dataset=2)
    warnings = sl.fit(wide, bootstrap=0).warnings
    assert "N is the column params, not width" in warnings
    assert "D is the column tokens, not samples or dataset" in warnings
    assert not any("is the column" in words for words in sl.fit(table, bootstrap=0).warnings)
    told = sl.fit(both, columns={"loss": "train_loss"}, bootstrap=0)
    assert not any("is the column" in words for words in told.warnings)


def test_lists_and_objects_in_cells(tmp_path, table):
    plain = sl.fit(table, bootstrap=0)
    tags = [["a", 1], ["b"]] * 20
    listed = table.assign(tags=tags, config=[{"lr": 0.1}] * 40)
    assert sl.fit(listed, bootstrap=0).value == plain.value
    assert clean_runs(pd.concat([listed, listed.iloc[:3]])).dropped == {"exact duplicate": 3}
    grouped = clean_runs(listed, group="tags").runs
    assert grouped.group.tolist() == (grouped.row % 2).tolist()
    rows = json.loads(listed.to_json(orient="records", double_precision=15))
    rows[0]["N"], rows[1]["loss"], rows[2]["D"] = {"value": 7}, [1.0], True
    (tmp_path / "runs.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    clean = clean_runs(tmp_path / "runs.jsonl")
    assert clean.dropped == {"loss not a number": 1, "N missing": 1}
    assert len(clean.runs) == 38


def test_columns_need_no_names_of_text():
    frame = noisy_runs(CHINCHILLA_TRUTH, 0, 40).set_axis([0, 1, 2], axis=1)
    assert sl.fit(frame, columns={"N": "0", "D": "1", "loss": "2"}, bootstrap=0).status == "ok"


def test_a_path_is_a_table(tmp_path, table):
    table.to_csv(tmp_path / "runs.csv", index=False)
    found = sl.fit(tmp_path / "runs.csv", bootstrap=0)
    assert (
        found.value
        == sl.fit(str(tmp_path / "runs.csv"), bootstrap=0).value
        == sl.fit(table, bootstrap=0).value
    )


@settings(deadline=None, max_examples=40)
@given(
    cells=st.lists(st.sampled_from([1, 2.0, float("nan"), "a", "b", None]), min_size=1, max_size=12),
    more=st.lists(st.sampled_from([0.5, 1.5, float("nan")]), min_size=12, max_size=12),
)
def test_labels_and_duplicates_are_those_of_pandas(cells, more):
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": more[: len(cells)]})
    table = table_of(frame)
    np.testing.assert_array_equal(duplicated(table), frame.duplicated().to_numpy())
    filled = [cell for cell in cells if cell is not None and cell == cell]
    if filled:
        expected = pd.factorize(pd.Series(filled, dtype=object))[0]
        np.testing.assert_array_equal(labels(table_of({"a": filled})["a"]), expected)


def test_quoted_cells_are_one_cell(tmp_path):
    (tmp_path / "quoted.csv").write_text('N,D,loss,note\n1,2,3,"a, b"\n')
    assert read_table(tmp_path / "quoted.csv")["note"].tolist() == ["a, b"]
