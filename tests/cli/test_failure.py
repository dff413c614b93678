import json
import pkgutil

import pytest

from sparselaw.cli import main
from sparselaw.failure import failure_probability, probability
from sparselaw.inputs import SparseInputs

MODEL = ["failure", "--alpha1", "1.5", "--alpha2", "-2", "--threshold", "2"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_json_has_the_contract_keys_and_the_library_values(capsys):
    code, out, err = run(capsys, *MODEL, "-D", "10,100", "--json", "--failures", "50")
    assert (code, err) == (0, "")
    result = json.loads(out)
    points = failure_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), [10, 100], 2.0, failures=50)
    assert [p["D"] for p in result["points"]] == [10, 100]
    for shown, point in zip(result["points"], points, strict=True):
        assert shown["probability"] == point.probability.as_dict()
        assert shown["bulk"] == point.bulk.as_dict()
        assert (shown["spike"], shown["method"]) == (point.spike, point.method)
    assert result["nu"] == 0.5
    assert result["local_exponents"][0]["exponent"]["low"] < result["local_exponents"][0]["exponent"]["high"]
    assert result["dimension"] is None
    assert result["dimension_reason"]
    assert run(capsys, *MODEL, "-D", "10,100", "--json", "--failures", "50")[1] == out


def test_missing_values_say_why(capsys):
    code, out, _ = run(
        capsys, "failure", "--alpha1", "1", "--alpha2", "0.3", "--threshold", "1.5", "-D", "50,60", "--json",
        "--replicates", "100", "--method", "direct",
    )  # fmt: skip
    result = json.loads(out)
    assert code == 0
    assert result["nu"] is None
    assert "alpha2" in result["nu_reason"]
    assert result["local_exponents"][0]["exponent"] is None
    assert result["local_exponents"][0]["exponent_reason"]
    assert result["points"][0]["spike_index_reason"]


def test_the_full_model_and_the_table(capsys):
    code, out, _ = run(capsys, *MODEL, "-D", "20", "-N", "5,1e9", "--failures", "20", "--json")
    assert code == 0
    assert [q["N"] for q in json.loads(out)["full_model"]] == [5, 10**9]
    code, out, _ = run(capsys, *MODEL, "-D", "20,40", "-N", "5", "--failures", "20")
    assert code == 0
    assert "direct" in out
    assert "full model" in out


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--threshold", "-1"], "threshold"),
        (["--threshold", "x"], "threshold"),
        (["--alpha1", "0", "--alpha2", "0.5", "--dimension", "inf"], "dimension"),
        (["--method", "guess"], "method"),
        (["--relative-error", "2"], "relative_error"),
        (["--seed", "-3"], "seed"),
        (["-D", "0"], "D"),
        (["-N", "0"], "N"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, name):
    code, out, err = run(capsys, *MODEL, "-D", "10", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"sparselaw: error: {name}=")
    assert err.count("\n") == 1


def test_ctrl_c_prints_what_is_finished(capsys, monkeypatch):
    """Descent on nearly dense inputs takes hours: it says so first, and a stopped run keeps its points."""
    real = probability.estimate

    def interrupted(case, *rest):
        if case.D == 1000:
            raise KeyboardInterrupt
        return real(case, *rest)

    monkeypatch.setattr(probability, "estimate", interrupted)
    slow = ["failure", "--alpha1", "-0.5", "--alpha2", "0.8", "--threshold", "1.1", "--json"]
    code, out, err = run(capsys, *slow, "-D", "2,1000,3")
    assert code == 130
    assert [point["D"] for point in json.loads(out)["points"]] == [2]
    announced, stopped = err.splitlines()
    assert announced.startswith("sparselaw: D=1000: up to ")
    assert " h in all" in announced
    assert "interrupted" in stopped


def ctrl_c_in_numba(*_):
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


@pytest.mark.parametrize(
    ("method", "loop"),
    [("importance", "importance.weigh_failures"), ("direct", "direct.count_failures")],
)
def test_ctrl_c_that_numba_makes_an_error_of(capsys, monkeypatch, method, loop):
    """It comes while a compiled loop gives its result: the finished points are shown all the same."""
    place = f"sparselaw.failure.{loop}"
    real = pkgutil.resolve_name(place)

    def later(rng, law, *rest):
        return ctrl_c_in_numba() if law.D == 100 else real(rng, law, *rest)

    monkeypatch.setattr(place, later)
    code, out, err = run(capsys, *MODEL, "-D", "10,100", "--json", "--failures", "50", "--method", method)
    assert code == 130
    assert [point["D"] for point in json.loads(out)["points"]] == [10]
    assert err == "sparselaw: interrupted: the points finished so far follow\n"
    with pytest.raises(KeyboardInterrupt):
        failure_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), 100, 2.0, method=method)


def test_another_system_error_stays_one(monkeypatch):
    def broken(*_):
        raise SystemError("of numba's own")

    monkeypatch.setattr("sparselaw.failure.direct.count_failures", broken)
    with pytest.raises(SystemError, match="numba's own"):
        failure_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), 10, 2.0, method="direct")


def test_more_than_a_day_is_refused_in_one_line(capsys):
    endless = ["--method", "direct", "--failures", "1e12", "--replicates", "1e12"]
    code, out, err = run(capsys, *MODEL, "-D", "10,100", *endless)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "days at least" in err


def test_inputs_without_rare_activations_are_refused(capsys):
    code, _, err = run(capsys, *MODEL, "-D", "10", "--inputs", "dense")
    assert code == 2
    assert "inputs=dense" in err
