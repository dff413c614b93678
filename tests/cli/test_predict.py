import json
import math

import pytest

from sparselaw.cli import main
from sparselaw.errors import InputError
from sparselaw.inputs import SparseInputs
from sparselaw.numbers import sizes
from sparselaw.predicting import predict

MODEL = ["--alpha1", "1", "--alpha2", "0.3"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_json_has_the_contract_keys_and_the_library_values(capsys):
    code, out, err = run(capsys, "predict", *MODEL, "-N", "16,64", "-D", "1e4", "--json")
    assert code == 0
    assert err == ""
    result = json.loads(out)
    assert result["regime"] == "asymmetric"
    assert [result[k] for k in ("alpha_N", "alpha_D", "alpha_C")] == pytest.approx([2.3, 1.15, 0.575])
    assert result["xi_crit"] == pytest.approx(1 / math.gamma(0.5))
    assert result["nu"] is None
    assert "spike" in result["nu_reason"]
    assert {"constant_N", "constant_D"} <= set(result)
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    for row, N in zip(result["points"], (16, 64), strict=True):
        assert row["N"] == N
        assert row["D"] == 10_000
        assert row["loss"] == pytest.approx(predict(model, N=N, D=10_000).loss, rel=1e-12)
        assert row["K"] == model.expected_seen(10_000)
        assert row["xi"] == pytest.approx(100.0 / N)
        assert isinstance(row["caution"], str)


def test_infinite_losses_are_null_with_a_reason(capsys):
    _, out, _ = run(capsys, "predict", *MODEL, "--inputs", "dense", "-N", "50", "-D", "50", "--json")
    point = json.loads(out)["points"][0]
    assert point["loss"] is None
    assert "peak" in point["loss_reason"]


def test_gd_failure_regime_has_nu(capsys):
    _, out, _ = run(capsys, "predict", "--alpha1", "2", "--alpha2", "-1.2", "--json")
    result = json.loads(out)
    assert result["regime"] == "gd-failure"
    assert result["nu"] == pytest.approx(9.0)
    assert "nu_reason" not in result


def test_table_shows_points_and_cautions(capsys):
    code, out, err = run(capsys, "predict", *MODEL, "-N", "4,64", "-D", "50000", "--surface", "leading")
    assert code == 0
    assert "asymmetric" in out
    assert "0.000117203" in out
    assert "caution [1]: N < 20" in err


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["--alpha1", "x", "--alpha2", "1"], "alpha1=x: is not a number"),
        (["--alpha1", "nan", "--alpha2", "1"], "alpha1=nan: is not finite"),
        (["--alpha1", "inf", "--alpha2", "1"], "alpha1=inf: is not finite"),
        (["--alpha1", "-1.5", "--alpha2", "1"], "alpha1=-1.5: must be at least -1"),
        (["--alpha1", "1", "--alpha2", "-2"], "alpha2=-2: alpha1 + alpha2 + 1 must be positive"),
        (["--alpha1", "1"], "alpha2=: is missing"),
        ([*MODEL, "-N", "0", "-D", "5"], "N=0"),
        ([*MODEL, "-N", "-3", "-D", "5"], "N=-3"),
        ([*MODEL, "-N", "5", "-D", "many"], "D=many: is not a number"),
        ([*MODEL, "-N", "5"], "D=: is missing while N is given"),
        ([*MODEL, "-N", "9:4:3", "-D", "5"], "N=9:4:3: stops before it starts"),
        ([*MODEL, "-N", "4:9", "-D", "5"], "N=4:9: is not a list"),
        ([*MODEL, "--inputs", "wet"], "inputs=wet: is not one of the choices"),
        ([*MODEL, "--dimension", "-4"], "dimension=-4"),
        ([*MODEL, "--what"], "what=: No such option"),
        ([*MODEL, "more"], "arguments="),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, start):
    code, out, err = run(capsys, "predict", *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith(f"sparselaw: error: {start}")
    assert err.count("\n") == 1
    assert "; " in err


def test_lists_of_sizes():
    assert sizes("N", "4:256:13") == [4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256]
    assert sizes("N", "1:3:10") == [1, 2, 3]
    assert sizes("N", "8,4,8") == [8, 4]
    assert sizes("N", "123456789012345678901") == [123456789012345678901]
    with pytest.raises(InputError):
        sizes("N", "")


def test_help_and_version(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "predict" in out
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.strip()


def test_unfinished_training_has_its_parts(capsys):
    code, out, err = run(
        capsys, "predict", *MODEL, "-N", "64,inf", "-D", "4000", "--solver", "sgd", "--passes", "16",
        "--step", "0.5", "--batch", "4", "--noise", "0.01", "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    finite, infinite = json.loads(out)["points"]
    for point in (finite, infinite):
        assert set(point["parts"]) == {"descent", "minibatch", "label_noise"}
        assert sum(point["parts"].values()) == pytest.approx(point["loss"])
        assert {"kappa", "pi", "caution"} <= set(point)
    assert (infinite["N"], infinite["N_reason"]) == (None, "infinite")
    assert infinite["loss"] < finite["loss"]
    code, out, _ = run(
        capsys, "predict", *MODEL, "-N", "64", "-D", "4000", "--solver", "gd", "--steps", "100"
    )
    assert code == 0
    assert "label noise" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--solver", "sgd"], "passes=: is needed"),
        (["--passes", "3"], "passes=3: is not a setting of min-norm"),
        (["--solver", "sgd", "--passes", "3", "--ridge", "0.1"], "ridge=0.1: is not a setting of sgd"),
        (["--solver", "sgd", "--passes", "3", "--form", "half"], "form=half"),
    ],
)
def test_options_that_do_not_go_together(capsys, options, said):
    code, out, err = run(capsys, "predict", *MODEL, "-N", "64", "-D", "4000", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
