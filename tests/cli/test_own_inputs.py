"""Inputs and solvers of one's own: their fields are options by their names, in the commands."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.explore.call import input_options, input_python
from sparselaw.explore.session import Session
from sparselaw.inputs import KINDS, ActivationInputs, inputs_of, written_inputs
from sparselaw.solvers import SOLVERS, Ridge

SIZES = ["-N", "8", "-D", "300"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInputs(ActivationInputs):
    """The first ``many`` coordinates are active half of the time, the others rarer."""

    kind = "step"
    many: int
    fall_by: float = 2.0
    shape: str = "power"
    dimension: float = 50.0

    def probabilities(self, j):
        beyond = np.maximum(j - self.many, 0.0)
        fall = (1.0 + beyond) ** -self.fall_by if self.shape == "power" else self.fall_by**-beyond
        return 0.5 * fall

    def squared_amplitudes(self, j):
        return np.ones_like(j)


@dataclass(frozen=True, slots=True, kw_only=True)
class Half(Ridge):
    """A ridge of half its strength."""

    name = "half"
    ridge: float = 0.0
    strength: float = 1.0

    @property
    def ridge_of_theory(self):
        return 0.5 * self.strength


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(KINDS, "step", StepInputs)
    monkeypatch.setitem(SOLVERS, "half", Half)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


OWN = StepInputs(many=3, fall_by=1.5, shape="factor", dimension=30.0)
TYPED = ["--inputs", "step", "--many", "3", "--fall-by=1.5", "--shape", "factor", "--dimension", "30"]


def test_predict(capsys):
    code, out, err = run(capsys, "predict", *TYPED, *SIZES, "--json")
    assert code == 0, err
    assert json.loads(out)["points"][0]["loss"] == sl.predict(OWN, N=8, D=300).loss


def test_simulate(capsys):
    code, out, err = run(
        capsys, "simulate", *TYPED, *SIZES, "--seeds", "2", "--workers", "1", "--solver", "half",
        "--strength", "3", "--json",
    )  # fmt: skip
    assert code == 0, err
    runs = sl.simulate(OWN, N=8, D=300, seeds=2, workers=1, solver=Half(strength=3.0))
    assert json.loads(out)["cells"][0]["mean"] == pytest.approx(runs["loss"].mean(), rel=1e-12)


def test_plan_before_and_after_its_other_options(capsys):
    code, out, err = run(capsys, "plan", *TYPED, "--budget", "1e5", "--surface", "leading", "--json")
    assert code == 0, err
    own = sl.plan(OWN, budget=1e5, surface="leading")
    assert json.loads(out)["N"]["best"] == own.N.best


def test_failure(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "sparselaw.failure.probability.growing_curve", lambda inputs, *_, **__: asked.append(inputs)
    )
    with pytest.raises(SystemExit):
        main(["failure", *TYPED, "-D", "30", "--threshold", "2"])
    assert asked == [OWN]


def test_settings_of_a_solver_in_predict(capsys):
    model = ["--alpha1", "1", "--alpha2", "0.3"]
    code, out, err = run(capsys, "predict", *model, *SIZES, "--solver", "half", "--strength", "3", "--json")
    assert code == 0, err
    own = sl.predict(sl.SparseInputs(alpha1=1.0, alpha2=0.3), N=8, D=300, ridge=1.5)
    assert json.loads(out)["points"][0]["loss"] == own.loss


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["predict", "--inputs", "step"], "many=: is missing; give many (on the command line --many)"),
        (["predict", *TYPED, "--alpha1", "1"], "alpha1=1: does not describe these inputs; leave out alpha1"),
        (["predict", "--inputs", "step", "--many", "x"], "many=x: is not a number"),
        (["predict", *TYPED, "--rate", "2"], "rate=: No such option"),
        (["predict", *TYPED, "--strength", "2"], "strength=2: is not a setting of min-norm"),
        (["predict", *TYPED, "--many"], "many=: Option '--many' requires an argument"),
        (
            ["predict", "--alpha1", "1", "--alpha2", "1", "--many", "3"],
            "many=3: is not a setting of min-norm",
        ),
        (["simulate", *TYPED, *SIZES, "--alpha", "1"], "alpha=1: does not describe these inputs"),
        (["simulate", *TYPED, *SIZES, "--rate", "2"], "rate=: No such option: --rate"),
        (["plan", *TYPED, "--budget", "1e5", "--rate", "2"], "rate=: No such option"),
        (
            ["plan", "--alpha1", "1", "--alpha2", "1", "--budget", "1e5", "--many", "3"],
            "many=3: does not describe",
        ),
        (["plan", "runs.csv", "--budget", "1e5", "--many", "3"], "many=3: has no effect without a model"),
        (["plan", *TYPED, "--budget", "1e5", "--strength", "2"], "strength=: No such option"),
        (["failure", *TYPED, "-D", "30", "--threshold", "2", "--alpha2", "1"], "alpha2=1: does not describe"),
    ],
)
def test_what_does_not_fit_is_refused(capsys, arguments, start):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"sparselaw: error: {start}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "shown"), [("predict", "sparse|dense|FILE|step"), ("failure", "sparse|FILE|step")]
)
def test_help_names_them(capsys, command, shown):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert shown in out.replace("\n", "").replace(" ", "")


def test_they_say_how_they_are_written():
    options = {name: str(value) for name, value in input_options(OWN).items()}
    assert written_inputs(options.pop("inputs"), options, options.pop("dimension")) == OWN
    made = f"{StepInputs.__module__}.StepInputs(many=3, fall_by=1.5, shape='factor', dimension=30)"
    assert input_python(OWN) == f"model = {made}"
    assert "dimension" not in input_options(StepInputs(many=3))


def test_words_are_kept_as_they_are():
    assert inputs_of("step", OWN.parameters() | {"other": 1.0}) == OWN
    assert isinstance(inputs_of("step", OWN.parameters()).many, int)


def test_the_page_takes_them_too():
    state = {"inputs": "step", "many": "3", "fall_by": "1.5", "shape": "factor", "dimension": "30"}
    with Session() as session:
        shown = session.values("surface", state | {"D": "300", "low": "4", "high": "20"})
        wrong = session.values("surface", {"inputs": "secret.json", "D": "300"})
    assert "--inputs step --many 3 --fall-by 1.5 --shape factor --dimension 30" in shown["code"]["shell"]
    assert wrong["refused"].startswith("inputs=secret.json: is not one of the choices")


def test_without_a_power_law_there_is_no_word_of_alpha2(capsys):
    arguments = ["-D", "4", "--threshold", "50", "--method", "direct", "--replicates", "20"]
    code, out, err = run(capsys, "failure", *TYPED, *arguments)
    assert code == 0, err
    assert "no spike is known: these inputs follow no power law" in out
    assert "alpha2" not in out + err
