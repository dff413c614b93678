"""The commands fit and plan: contract keys, words on standard error, one line and exit 2 for bad input."""

import json

import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main
from sparselaw.fitting import fit
from sparselaw.inputs import DenseInputs
from sparselaw.planning import plan


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    noisy_runs(CHINCHILLA_TRUTH, 0, 80).to_csv(path, index=False)
    return path


def test_fit_json_is_the_librarys_answer(capsys, file):
    code, out, _ = run(capsys, "fit", file, "--bootstrap", "60", "--seed", "3", "--json")
    assert code == 0
    result = json.loads(out)
    found = fit(noisy_runs(CHINCHILLA_TRUTH, 0, 80), bootstrap=60, seed=3)
    assert result["law"] == "chinchilla"
    assert result["objective"] == "huber"
    assert result["value"] == pytest.approx(found.value, rel=1e-12)
    assert result["rows_used"] == 80
    assert result["status"] == "ok"
    assert list(result["params"]) == ["E", "A", "B", "alpha", "beta"]
    for name, ends in result["params"].items():
        assert ends == pytest.approx(found.params[name].as_dict(), rel=1e-9)
    assert set(result["sparsity"]) == {"alpha1", "alpha2"}
    assert {"gradient_norm", "starts_agreeing", "equal_exponents", "rows_dropped"} <= set(result)
    assert len(result["leave_out"]) == 7


def test_same_command_same_bytes_whatever_the_workers(capsys, file):
    outputs = {run(capsys, "fit", file, "--bootstrap", "60", "--workers", n, "--json")[1] for n in (1, 2)}
    assert len(outputs) == 1


def test_no_draws_no_ends(capsys, file):
    _, out, _ = run(capsys, "fit", file, "--bootstrap", "0", "--json", "--no-leave-out")
    alpha = json.loads(out)["params"]["alpha"]
    assert alpha["low"] is None
    assert "bootstrap 0" in alpha["low_reason"]
    assert alpha["best"] > 0


def test_power_law_has_no_sparsity(capsys, tmp_path):
    path = tmp_path / "sweep.csv"
    path.write_text("N,D,loss\n" + "\n".join(f"{n},1000,{2 * n**-1.5}" for n in (4, 8, 16, 32, 64)))
    code, out, err = run(capsys, "fit", path, "--law", "power", "--last", "4", "--bootstrap", "50", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["sparsity"] is None
    assert "one exponent" in result["sparsity_reason"]
    assert result["params"]["alpha"]["best"] == pytest.approx(1.5)
    assert "1 rows" in err or "not used" in err


def test_dropped_rows_and_assumptions_are_said(capsys, tmp_path):
    table = noisy_runs(CHINCHILLA_TRUTH, 0, 40)
    table["Training FLOP"] = 6 * table.N * table.D
    table.loc[3, "loss"] = -1
    table.drop(columns="D").to_csv(tmp_path / "runs.csv", index=False)
    code, out, err = run(
        capsys, "fit", tmp_path / "runs.csv", "--bootstrap", "40", "--json", "--no-leave-out"
    )
    assert code == 0
    assert "1 row dropped: loss not positive" in err
    assert "C/(6N)" in err
    assert json.loads(out)["rows_dropped"] == {"loss not positive": 1}


def test_tables_for_people(capsys, file):
    code, out, _ = run(capsys, "fit", file, "--bootstrap", "40")
    assert code == 0
    assert "alpha1" not in out
    code, out, _ = run(capsys, "fit", file, "--bootstrap", "40", "--sparsity")
    assert "alpha1" in out
    assert "starts agree" in out
    code, out, _ = run(capsys, "plan", file, "--budget", "1e21", "--cost", "6nd")
    assert code == 0
    assert "What a wrong N costs" in out


def test_what_matters_comes_first(capsys, file):
    """Law, fit, status, plan and forecast on the first screen; no theory of sparsity."""
    _, out, _ = run(capsys, "fit", file, "--bootstrap", "40")
    order = [
        "chinchilla: L = E",
        "beta",
        "residuals: SD",
        "worst: row",
        "status ok: ",
        "plan: ",
        "forecast: ",
    ]
    places = [out.index(words) for words in order]
    assert places == sorted(places)
    assert "sparselaw plan" in out
    assert "sparselaw forecast" in out.replace("\n", " ")
    assert len(out.splitlines()) <= 25
    for word in ("sparsity", "sparse ", "coupling", "pass ", "alpha1", "ridge", "left out"):
        assert word not in out
    _, out, _ = run(capsys, "fit", file, "--bootstrap", "40", "--sparsity", "--no-leave-out")
    assert "about one pass" in out


def test_fit_by_and_where(capsys, tmp_path):
    table = noisy_runs(CHINCHILLA_TRUTH, 0, 60)
    table["lr"] = [1e-3, 2e-3] * 30
    table = pd.concat([table, table.assign(lr=4e-3, loss=1.01 * table.loss)])
    table.to_csv(tmp_path / "runs.csv", index=False)
    base = ["fit", tmp_path / "runs.csv", "--bootstrap", "0", "--no-leave-out"]
    code, out, err = run(capsys, *base, "--json")
    assert code == 0
    assert json.loads(out)["status"] == "pooled"
    assert "--where 'lr=...'" in err
    _, out, _ = run(capsys, *base, "--json", "--where", "lr=0.001")
    one = json.loads(out)
    assert (one["rows_used"], one["status"]) == (30, "ok")
    assert set(one["residuals"]) == {"sd", "mad", "worst"}
    _, out, _ = run(capsys, *base, "--json", "--by", "lr")
    assert json.loads(out)["fits"][0]["by_value"] == 0.001
    code, out, _ = run(capsys, *base, "--by", "lr")
    assert (code, "One fit for each lr" in out) == (0, True)


def test_plan_json_from_runs_and_from_theory(capsys, file):
    code, out, _ = run(
        capsys, "plan", file, "--budget", "1e21", "--law", "chinchilla", "--bootstrap", "60", "--json"
    )
    assert code == 0
    result = json.loads(out)
    expected = plan(fit(noisy_runs(CHINCHILLA_TRUTH, 0, 80), bootstrap=60), 1e21, "6nd")
    for name in ("N", "D", "loss"):
        assert result[name] == pytest.approx(getattr(expected, name).as_dict(), rel=1e-6)
    assert result["side"] is None
    assert "side_reason" in result
    assert result["alpha_C"] == pytest.approx(expected.alpha_C)
    code, out, err = run(capsys, "plan", "--alpha1", "1", "--alpha2", "0.3", "--budget", "1e12", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["side"] == "N<K"
    assert result["alpha_C"] == pytest.approx(0.575)
    assert result["N"]["best"] ** 2 * result["D"]["best"] == pytest.approx(1e12)


def test_all_laws_side_by_side(capsys, file):
    code, out, err = run(capsys, "fit", file, "--law", "all", "--json")
    assert code == 0
    laws = json.loads(out)["laws"]
    assert laws[0]["law"] == "coupled"
    assert {"chinchilla", "two-power", "kaplan", "one-exponent"} < {line["law"] for line in laws}
    assert "data-constrained: no fit" in err


def test_plan_for_dense_inputs_by_the_words_of_predict(capsys, file):
    words = ["--inputs", "dense", "--alpha", "2.3", "--dimension", "10000"]
    code, out, _ = run(capsys, "plan", *words, "--budget", "1e9", "--surface", "leading", "--json")
    assert code == 0
    expected = plan(DenseInputs(alpha=2.3, dimension=10_000), 1e9, surface="leading")
    assert json.loads(out)["N"]["best"] == pytest.approx(expected.N.best)
    for ignored in (words[:2], ["--alpha", "2.3"]):
        assert run(capsys, "plan", file, "--budget", "1e21", *ignored)[0] == 2


def test_plan_for_several_budgets(capsys, file):
    base = ["plan", file, "--budget", "1e21,1e22"]
    code, out, _ = run(capsys, *base, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["cost"] == "6nd"
    assert [p["budget"] for p in result["plans"]] == [1e21, 1e22]
    assert result["N"] == result["plans"][0]["N"]
    assert result["plans"][0]["tokens_per_parameter"]["best"] > 1
    code, out, _ = run(capsys, *base, "--inference-tokens", "1e12")
    assert code == 0
    assert "N ~ C^" in out
    assert "2 N T" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "nowhere.csv"],
        ["fit", "{file}", "--law", "cubic"],
        ["fit", "{file}", "--objective", "l3"],
        ["fit", "{file}", "--bootstrap", "many"],
        ["fit", "{file}", "--bootstrap", "-5"],
        ["fit", "{file}", "--columns", "N"],
        ["fit", "{file}", "--columns", "N=zzz"],
        ["fit", "{file}", "--group", "zzz"],
        ["fit", "{file}", "--by", "zzz"],
        ["fit", "{file}", "--law", "all", "--last", "3"],
        ["fit", "{file}", "--where", "zzz=1"],
        ["fit", "{file}", "--where", "N"],
        ["fit", "{file}", "--delta", "0"],
        ["fit", "{file}", "--drop-peak"],
        ["fit", "{file}", "--workers", "0"],
        ["fit"],
        ["plan", "{file}"],
        ["plan", "--budget", "1e9"],
        ["plan", "{file}", "--budget", "1e21,x"],
        ["plan", "{file}", "--budget", "1e21", "--inference-tokens", "-3"],
        ["plan", "--alpha1", "1", "--budget", "1e9"],
        ["plan", "{file}", "--alpha1", "1", "--alpha2", "0", "--budget", "1e9"],
        ["plan", "--alpha1", "1", "--alpha2", "0", "--budget", "-1"],
        ["plan", "--alpha1", "1", "--alpha2", "0", "--budget", "nan"],
        ["plan", "--alpha1", "1", "--alpha2", "0", "--budget", "1e9", "--cost", "7nd"],
        ["plan", "{file}", "--law", "power", "--budget", "1e9"],
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, file, arguments):
    code, out, err = run(capsys, *(a.format(file=file) for a in arguments))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("sparselaw: error: ")
    assert ": " in err[18:]
    assert "; " in err
