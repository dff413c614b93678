"""Rows that should not be thrown together are noticed; some of them can be chosen."""

import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs, real_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit, fit_by, read_table
from sparselaw.fitting.tables import select, table_of


@pytest.fixture
def table():
    return noisy_runs(CHINCHILLA_TRUTH, 0, 60)


@pytest.mark.parametrize("column", ["run", "run_name", "experiment", "epochs", "U", "train_set", "schedule"])
def test_a_column_that_tells_groups_apart_is_said(table, column):
    table[column] = np.arange(60) % 4
    found = fit(table, bootstrap=0)
    assert found.status == "pooled"
    words = next(w for w in found.warnings if column in w)
    assert f"--by {column}" in words
    runs = column in ("run", "run_name", "experiment")
    assert (f"--group {column}" in words) == runs  # a schedule is no run
    assert ("--final" in words) == runs
    assert fit(table, bootstrap=0, group=column).status == "ok"


@pytest.mark.parametrize("column", ["lr", "learningRate", "batch_size", "weight_decay"])
def test_a_sweep_is_told_from_a_tuned_table(table, column):
    table[column] = 1e-3 * (np.arange(60) % 4)
    assert fit(table, bootstrap=0).status == "ok"  # one run for each N and D: the best of some sweep
    sweep = pd.concat([table, table.assign(**{column: 9.0, "loss": 1.1 * table.loss})])
    found = fit(sweep, bootstrap=0)
    assert found.status == "pooled"
    words = next(w for w in found.warnings if column in w)
    assert "--best" in words
    assert "--group" not in words
    assert fit(sweep, bootstrap=0, best=True).status == "ok"


def test_free_text_and_nearly_unique_names_are_no_groups(table):
    table["comment"] = np.where(
        np.arange(60) % 2,
        "the second of two that were made on the new cluster",
        "as before, with the old tokenizer and a longer warm-up",
    )
    table["run"] = [f"r{max(i, 3)}" for i in range(60)]
    assert fit(table, bootstrap=0).status == "ok"


def test_the_same_groups_under_two_names_are_said_once(table):
    table["run"], table["run_path"] = np.arange(60) % 4, [f"logs/{i % 4}" for i in range(60)]
    table["trial"] = np.arange(60) // 30  # other groups: a line of its own
    said = [w for w in fit(table, bootstrap=0).warnings if "pooled" in w]
    assert [w.split()[2] for w in said] == ["run", "trial"]


def test_unknown_words_are_noticed_by_what_they_hold(table):
    table["corpus mix"] = np.where(np.arange(60) % 2, "web", "books")
    assert fit(table, bootstrap=0).status == "pooled"
    table["corpus mix"] = "web"
    assert fit(table, bootstrap=0).status == "ok"


def test_what_comes_with_the_sizes_or_is_unique_is_no_group(table):
    table["lr"] = 1.0 / table.N
    table["size"] = table.N.map("{:.3g}".format)
    table["run"] = np.arange(60)
    table["colour"] = table.loss.map("{:.17g}".format)
    table["family"] = np.where(table.N > 1e9, "large", "small")
    table["note"] = [f"run {i}" for i in range(60)]
    assert fit(table, bootstrap=0).status == "ok"


def test_real_tables():
    chinchilla = fit(read_table(real_runs("chinchilla/svg_extracted_data.csv")), bootstrap=0)
    assert chinchilla.status == "outliers"  # the five highest losses, which the reference leaves out
    assert not any("pooled" in words for words in chinchilla.warnings)
    gemstones = read_table(real_runs("gemstones/wandb_df_for_fitting_cool_end.jsonl"))
    assert fit(gemstones, bootstrap=0).status == "pooled"
    assert fit(gemstones, bootstrap=0, group="run_name").status == "ok"
    repeated = fit(read_table(real_runs("datablations/datablations_c4_runs.csv")), bootstrap=0)
    assert any("column U" in w for w in repeated.warnings)
    assert any("column epochs" in w for w in repeated.warnings)


def test_eight_rows_are_few_for_five_parameters(table):
    few = fit(table.sample(8, random_state=1), bootstrap=0)
    assert few.status == "few-rows"
    assert any("8 rows are few for 5 parameters" in w for w in few.warnings)
    assert not any("are few" in w for w in fit(table.sample(20, random_state=1), bootstrap=0).warnings)


def test_residuals_in_per_cent_and_the_worst_rows(table):
    table.loc[7, "loss"] *= 1.2
    found = fit(table, bootstrap=0)
    good = found.goodness
    r = 100 * np.log(table.loss / found.loss(table.N, table.D))
    assert good.sd == pytest.approx(np.sqrt(np.mean(r**2)), rel=1e-9)
    assert good.mad == pytest.approx(np.median(np.abs(r)), rel=1e-9)
    assert good.worst[0].row == 8
    assert good.worst[0].percent == pytest.approx(20.0, abs=3.0)
    assert found.as_dict()["residuals"]["worst"][0]["row"] == 8
    selected = fit(table, bootstrap=0, where="N>0").goodness
    assert selected.worst[0].row == 8


def test_rows_are_chosen_by_conditions():
    rows = table_of({"lr": [1e-3, 2e-3, 3e-3, np.nan], "name": ["a", "b", "b", "c"]})
    assert list(select(rows, ["lr=0.001"]).index) == [0]
    assert list(select(rows, ["lr<=0.002"]).index) == [0, 1]
    assert list(select(rows, ["name=b", "lr>2e-3"]).index) == [2]
    assert list(select(rows, ["name!='b'"]).index) == [0, 3]
    refused = {"lr": "not a condition", "x=1": "no column x", "lr=7": "no row", "name<b": "a word"}
    for bad, words in refused.items():
        with pytest.raises(InputError, match=words):
            select(rows, [bad])


def test_each_value_is_fitted_on_its_own(table):
    table["lr"] = np.where(np.arange(60) % 2, 1e-3, 2e-3)
    parts = fit_by(table, "lr", bootstrap=0)
    alone = fit(table, bootstrap=0, where="lr=0.001")
    assert parts.fits[1e-3].value == alone.value
    assert alone.rows_used == 30
    assert alone.status == "ok"
    few = pd.concat([table, table.iloc[:2].assign(lr=5.0)])
    result = fit_by(few, "lr", bootstrap=0).as_dict()
    assert [part["by_value"] for part in result["fits"]] == [1e-3, 2e-3]
    assert "needs 6 usable rows" in result["refused"][0]["reason"]
    assert "One fit for each lr" in parts._repr_html_()
    with pytest.raises(InputError, match="by=zzz: is not in the table"):
        fit_by(table, "zzz")
