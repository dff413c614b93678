"""What is said of a table before anything is fitted: units, metrics, embeddings, checkpoints, outliers."""

import json

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main
from sparselaw.errors import InputError
from sparselaw.fitting import clean_runs, fit
from sparselaw.fitting.table_checks import rank_correlation
from sparselaw.fitting.tables import find_columns, unit_of
from sparselaw.laws import ChinchillaLaw


@pytest.fixture
def table():
    return noisy_runs(CHINCHILLA_TRUTH, 0, 60)


def shaped(vocabulary=50_257, embeddings=True):
    """Transformers of some depths and widths; a law in their non-embedding size."""
    depth, width, D = (
        x.ravel() for x in np.meshgrid([4, 8, 16], [256, 512, 1024], np.geomspace(1e9, 1e11, 5))
    )
    bare = 12.0 * depth * width**2
    N = bare + embeddings * vocabulary * width
    return pd.DataFrame(
        {"N": N, "D": D, "n_layers": depth, "d_model": width, "loss": CHINCHILLA_TRUTH.loss(bare, D)}
    )


def test_accuracies_are_refused(table):
    for name, values in {"loss": 1.0 / table.loss, "val_acc": 1.0 - 0.2 * table.loss}.items():
        given = table.drop(columns="loss").assign(**{name: values})
        with pytest.raises(
            InputError, match=r"rises with scale .* give a loss, or an error such as 1 - accuracy"
        ):
            fit(given, columns={"loss": name}, bootstrap=0)
    assert fit(table.assign(loss=0.2 * table.loss), bootstrap=0).status == "ok"


def test_rank_correlation_is_scipys():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, 40).astype(float), rng.integers(0, 9, 40).astype(float)
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-11)
    assert rank_correlation(x, np.ones(40)) == 0.0


def test_units_in_the_name_of_a_column_are_used(table):
    named = pd.DataFrame({"Params (M)": table.N / 1e6, "Tokens (B)": table.D / 1e9, "loss": table.loss})
    found = fit(named, bootstrap=0)
    assert found.value == pytest.approx(fit(table, bootstrap=0).value, rel=1e-9)
    assert "D is the column Tokens (B), in units of 1e+09" in found.warnings
    raw = fit(table.rename(columns={"D": "Tokens (B)"}), bootstrap=0)
    assert any("taken as it stands" in w for w in raw.warnings)
    assert raw.value == fit(table, bootstrap=0).value
    names = ("tokens_in_billions", "N [1e6]", "D (thousand)", "batch (mean)")
    assert [unit_of(name)[1] for name in names] == [
        1e9, 1e6, 1e3, 1.0,
    ]  # fmt: skip


def test_sizes_that_do_not_go_together_are_said_first(table):
    small = clean_runs(table.assign(D=table.D / 1e9))
    assert "D is far below N" in small.notes[0]
    tiny = clean_runs(table.assign(N=table.N / 1e9))
    assert "N is tiny beside D" in tiny.notes[0]
    off = clean_runs(table.assign(flops=60 * table.N * table.D))
    assert "C is 10 times 6 N D" in off.notes[0]
    assert clean_runs(table.assign(flops=6.1 * table.N * table.D)).notes == ()


def test_a_lone_training_loss_is_taken_with_a_word(table):
    found = fit(table.rename(columns={"loss": "train_loss"}), bootstrap=0)
    assert any("train_loss, the only one" in w for w in found.warnings)
    assert find_columns(["N", "D", "train_loss", "val_loss"])["loss"] == "val_loss"


def test_embeddings_in_N_are_noticed_and_left_out():
    given = shaped()
    found = fit(given, bootstrap=0)
    assert any("N seems to include embeddings" in w and "50,257 times" in w for w in found.warnings)
    bare = fit(given, bootstrap=0, count="non-embedding")
    assert bare.goodness.sd < 1e-6 < found.goodness.sd
    assert bare.params["alpha"].best == pytest.approx(CHINCHILLA_TRUTH.alpha, rel=1e-4)
    assert not any("embeddings (N" in w for w in fit(shaped(embeddings=False), bootstrap=0).warnings)
    known = given.assign(vocab=50_257)
    assert any("seems to include embeddings" in w for w in fit(known, bootstrap=0).warnings)
    assert not any("seems to" in w for w in fit(known.assign(vocab=1_000), bootstrap=0).warnings)
    without = fit(given.drop(columns="N"), bootstrap=0)
    assert without.value == bare.value
    named = given.assign(non_embedding_params=12 * given.n_layers * given.d_model**2).drop(columns="d_model")
    assert fit(named, bootstrap=0, count="non-embedding").value == bare.value
    with pytest.raises(InputError, match="count=non-embedding: needs the width"):
        fit(noisy_runs(CHINCHILLA_TRUTH, 0, 60), count="non-embedding")
    with pytest.raises(InputError, match="count=total: is not one of the choices"):
        fit(given, count="total")


def test_only_the_last_checkpoint_of_each_run():
    N = np.repeat(np.geomspace(1e7, 1e9, 12), 5)
    last = np.tile(np.geomspace(1e9, 1e11, 4), 3).repeat(5)
    part = np.tile([0.2, 0.4, 0.6, 0.8, 1.0], 12)
    loss = CHINCHILLA_TRUTH.loss(N, last * part) * np.where(part < 1.0, 1.05, 1.0)  # not annealed before
    given = pd.DataFrame({"run": np.repeat(np.arange(12), 5), "N": N, "D": last * part, "loss": loss})
    found = fit(given.sample(frac=1.0, random_state=3), bootstrap=0, final=True)
    assert found.rows_used == 12
    assert found.goodness.sd < 1e-6
    assert "only the last checkpoint of each run is used: 12 of 60 rows" in found.warnings
    assert not any("pooled" in w for w in found.warnings)
    named = given.rename(columns={"run": "trajectory"})
    assert fit(named, bootstrap=0, final=True, group="trajectory").rows_used == 12
    with pytest.raises(InputError, match="needs a column that names the run"):
        fit(named, bootstrap=0, final=True)


def test_one_diverged_run_is_named_and_the_status_is_not_ok():
    N, D = (x.ravel() for x in np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 4)))
    rng = np.random.default_rng(1)
    loss = CHINCHILLA_TRUTH.loss(N, D) * np.exp(0.004 * rng.standard_normal(24))
    clean = pd.DataFrame({"N": N, "D": D, "loss": loss})
    assert fit(clean, bootstrap=0).status == "ok"
    spoiled = clean.copy()
    spoiled.loc[1, ["N", "D", "loss"]] = 2e7, 1e9, 11.2
    found = fit(spoiled, bootstrap=0)
    assert found.status == "outliers"
    assert any(w.startswith("row 2 (N = 20M, D = 1B) +160 %") for w in found.warnings)
    assert found.goodness.typical == pytest.approx(fit(clean, bootstrap=0).goodness.typical, rel=0.5)
    assert [row.row for row in found.goodness.outliers] == [2]
    # The law itself hardly moves, since far rows count little.
    assert found.params["alpha"].best == pytest.approx(fit(clean, bootstrap=0).params["alpha"].best, rel=0.1)


def test_the_most_expensive_run_far_from_the_law_is_not_ok(table):
    table = noisy_runs(CHINCHILLA_TRUTH, 2, 60, noise=0.0005)
    last = (table.N * table.D).idxmax()
    table.loc[last, "loss"] *= 1.015
    found = fit(table, bootstrap=0)
    assert found.status == "outliers"
    assert any("the most expensive run" in w for w in found.warnings)


def test_the_order_of_the_rows_changes_nothing(table):
    table["run"] = [f"run {i % 20}" for i in range(60)]
    table["N"] = np.tile(np.geomspace(1e7, 1e9, 6), 10)
    table["D"] = np.repeat(np.geomspace(1e9, 1e11, 10), 6)
    noise = table.loss / CHINCHILLA_TRUTH.loss(table.N, table.D).mean()
    table["loss"] = CHINCHILLA_TRUTH.loss(table.N, table.D) * (1 + 0.01 * np.sin(1e3 * noise))
    power = {"law": "power", "variable": "N", "leave_out": True}
    for settings in ({"leave_out": True}, {"group": "run"}, power, {"objective": "envelope"}):
        one, other = (
            fit(rows, bootstrap=20, **settings).as_dict()
            for rows in (table, table.sample(frac=1.0, random_state=1))
        )
        for result in (one, other):  # rows have other places in the other table
            for row in (*result["residuals"]["worst"], *result["outliers"]):
                del row["row"]
        assert one == other


def test_large_tables_and_many_columns_do_not_take_long():
    """Hundreds of draws of 50,000 rows, and 4,000 columns: bounded work, and the same law."""
    law = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
    rng = np.random.default_rng(0)
    N, D = np.exp(rng.uniform(16, 22, 50_000)), np.exp(rng.uniform(20, 26, 50_000))
    loss = law.loss(N, D) * np.exp(0.01 * rng.standard_normal(N.size))
    found = fit(N, D, loss, bootstrap=400)
    assert found.params["alpha"].contains(0.35) or abs(found.params["alpha"].best - 0.35) < 0.003
    few = fit(N[:2000], D[:2000], loss[:2000], bootstrap=200).params["alpha"]
    width = found.params["alpha"].high - found.params["alpha"].low
    assert width == pytest.approx((few.high - few.low) / 5, rel=0.35)  # sqrt(2,000/50,000)
    wide = pd.DataFrame({"N": N[:40], "D": D[:40], "loss": loss[:40]})
    more = pd.DataFrame(rng.integers(0, 5, (40, 4_000)), columns=[f"metric {i}" for i in range(4_000)])
    assert fit(pd.concat([wide, more], axis=1), bootstrap=0).value == fit(wide, bootstrap=0).value


def test_the_command_says_it_before_it_fits(tmp_path, capsys, table):
    named = pd.DataFrame({"N": table.N, "Tokens (B)": table.D / 1e9, "val_loss": table.loss})
    named.to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(tmp_path / "runs.csv"), "--bootstrap", "20", "--json", "--level", "0.8"])
    assert stop.value.code == 0
    shown = capsys.readouterr()
    assert "Tokens (B), in units of 1e+09" in shown.err
    assert json.loads(shown.out)["level"] == 0.8


def test_sizes_are_written_as_people_write_them():
    from sparselaw import numbers
    from sparselaw.cli.fit_options import point

    assert numbers.sizes("N", "350M,7B") == [350_000_000, 7_000_000_000]
    assert numbers.widths("N", "1k:1M:3") == [1_000, 31_623, 1_000_000]
    assert point("N=7B,D=140B") == (7e9, 1.4e11)
    with pytest.raises(InputError, match="N=7X: is not a number"):
        numbers.size("N", "7X")


class Polars:
    """What polars answers: columns by name, as lists where asked."""

    def __init__(self, columns):
        self.columns = columns

    def to_dict(self, *, as_series=True):
        assert not as_series
        return {name: list(values) for name, values in self.columns.items()}


class Exchanged:
    """Any table with the data frame protocol."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, **settings):
        return self.frame.__dataframe__(**settings)


def test_tables_of_other_kinds_and_arrays(table):
    expected = fit(table, bootstrap=0)
    arrays = [table[name].to_numpy() for name in ("N", "D", "loss")]
    for found in (
        fit(Polars({name: table[name] for name in table}), bootstrap=0),
        fit(Exchanged(table), bootstrap=0),
        fit(*arrays, bootstrap=0),
        fit(*(list(values) for values in arrays), law="chinchilla", bootstrap=0),
        fit(*(values.reshape(6, 10) for values in arrays), "chinchilla", "huber", bootstrap=0),
    ):
        assert found.value == expected.value
    assert fit(*arrays, law="two-power", bootstrap=0).name == "two-power"
    with pytest.raises(InputError, match="loss=: is missing"):
        fit(arrays[0], arrays[1])
    with pytest.raises(InputError, match="law=kaplan: is given twice"):
        fit(table, "chinchilla", law="kaplan")


def test_predictions_are_those_of_the_law(table):
    law = fit(table, bootstrap=60)
    low, best, high = law.predict(1e9, 1e11)
    assert best == law.loss(1e9, 1e11)
    assert low < best < high
    N, D = np.meshgrid([1e8, 1e9, 1e10], [1e10, 1e11])
    grid = law.predict(N, D)
    np.testing.assert_array_equal(grid, law.loss(N, D))
    ends = law.predict(N, D, interval=True)
    assert [values.shape for values in ends] == [(2, 3)] * 3
    np.testing.assert_allclose(ends[0][1, 1], low, rtol=1e-12)
    np.testing.assert_allclose(ends[2][1, 1], high, rtol=1e-12)
    assert law.predict([1e9], 1e11).shape == (1,)
    narrow = fit(table, bootstrap=60, level=0.5).predict(1e9, 1e11)
    assert low < narrow.low < narrow.high < high
    with pytest.raises(InputError, match="needs N, D"):
        law.predict(1e9)


def test_what_is_printed_is_short(table):
    law = fit(table, bootstrap=20)
    assert repr(law) == "<FittedLaw chinchilla: 60 rows, status ok>"
    lines = str(law).splitlines()
    assert len(lines) == 9
    assert lines[-1] == "status ok: nothing stands against this fit"


@pytest.mark.parametrize(
    "settings",
    [{"leave_out": True}, {"law": "coupled"}, {"law": "power", "variable": "N"}, {"group": "run"}],
)
def test_a_saved_law_predicts_again_without_the_table(tmp_path, table, settings):
    table["run"] = np.arange(60) // 4
    if "variable" in settings:
        table["D"] = np.repeat([1e9, 1e10], 30)
    law = fit(table, bootstrap=20, **settings)
    law.save(tmp_path / "law.json")
    again = sl.load(tmp_path / "law.json")
    assert again.as_dict() == law.as_dict()
    if "variable" not in settings:
        assert again.predict(1e9, 1e11) == law.predict(1e9, 1e11)
        assert sl.plan(again, budget=1e22).as_dict() == sl.plan(law, budget=1e22).as_dict()
    content = json.loads((tmp_path / "law.json").read_text())
    assert content["version"] == sl.__version__
    other = fit(table.sample(frac=1.0, random_state=2), bootstrap=20, **settings)
    other.save(tmp_path / "other.json")
    assert json.loads((tmp_path / "other.json").read_text())["data_hash"] == content["data_hash"]


def test_files_are_not_trusted(tmp_path, table):
    fit(table, bootstrap=20).save(tmp_path / "law.json")
    content = json.loads((tmp_path / "law.json").read_text())
    damages = {
        "kind": ("no", "is no saved result"),
        "format": (99, "another version"),
        "data_hash": ("0", "is damaged"),
        "draws": ([[1.0]], "is damaged"),
        "law": ("none", "is not one of the laws"),
        "runs": ({}, "is damaged"),
        "minimum": ({"theta": [None]}, "is damaged"),
        "status": ([["ok"]], "is damaged"),
    }
    for key, (value, words) in damages.items():
        (tmp_path / "bad.json").write_text(json.dumps(content | {key: value}))
        with pytest.raises(InputError, match=words):
            sl.load(tmp_path / "bad.json")
    for text in ("{", "[" * 100_000, "null"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError):
            sl.load(tmp_path / "bad.json")


@pytest.mark.parametrize(("law", "draws"), [("chinchilla", "20"), ("all", "0")])
@pytest.mark.parametrize("spoil", ["loss", "N", "stderr up", "stderr down", "20 N"])
def test_numbers_at_the_ends_of_the_range(tmp_path, capsys, table, law, draws, spoil):
    if spoil == "loss":
        table.loc[3, "loss"] = 1e-300
    elif spoil == "N":
        table.loc[3, "N"] = 1e300
    elif spoil == "20 N":
        table["D"] = 20 * table.N
        table["loss"] = CHINCHILLA_TRUTH.loss(table.N, table.D)
    else:
        table["stderr"] = 0.01
        table.loc[3, "stderr"] = 1e300 if spoil == "stderr up" else 1e-300
    table.to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(tmp_path / "runs.csv"), "--law", law, "--bootstrap", draws, "--json"])
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert stop.value.code in (0, 2)
    if stop.value.code == 0:
        json.loads(shown.out)


def test_both_counts_are_shown(tmp_path, capsys):
    """The law is of the size without embeddings: later runs are then predicted better."""
    shaped().to_csv(tmp_path / "runs.csv", index=False)
    for command in (["fit", "--bootstrap", "0"], ["forecast", "--at", "N=1B,D=140B"]):
        with pytest.raises(SystemExit) as stop:
            main([command[0], str(tmp_path / "runs.csv"), *command[1:]])
        assert stop.value.code == 0
        words = next(line for line in capsys.readouterr().err.splitlines() if "--count as-given" in line)
        as_given, without = (float(part.split("%")[0].split()[-1]) for part in words.split(",")[-2:])
        assert without < 0.1 * as_given


@pytest.mark.parametrize(("size", "loss"), [(1e-308, 1e-308), (1e-280, 1e-290), (1e200, 1.0), (1.0, 1e306)])
def test_numbers_whose_products_are_none_are_left_out_and_said(size, loss):
    table = noisy_runs(CHINCHILLA_TRUTH, 0, 12)
    table["N"], table["loss"] = table["N"] * size, table["loss"] * loss
    with pytest.raises(InputError, match=r"no usable row is left .* outside 1e-"):
        sl.fit(table)
