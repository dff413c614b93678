"""A law of one's own, known by its formula alone, through Python, the command line and a plan."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, chinchilla_design, noisy_runs
from sparselaw.cli import main
from sparselaw.fitting import exponent_profile
from sparselaw.laws import LAWS, ChinchillaLaw, Law, Range, Term, register
from sparselaw.laws.ranges import coefficient, exponent, floor


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLaw(Law):
    """L = E + [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g: one size makes up for the other, or not."""

    name: ClassVar[str] = "own"
    formula: ClassVar[str] = "L = E + [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g"
    floor_name: ClassVar[str | None] = "E"
    exponent_names: ClassVar[tuple[str, str] | None] = ("alpha", "beta")
    ranges: ClassVar[dict[str, Range]] = {
        "E": floor(),
        "A": coefficient("N", "alpha"),
        "B": coefficient("D", "beta"),
        "alpha": exponent(),
        "beta": exponent(),
        "g": Range(low=0.1, high=10.0, starts=(0.5, 1.0)),
    }

    E: float
    A: float
    B: float
    alpha: float
    beta: float
    g: float

    def loss(self, N: Any, D: Any) -> Any:
        of_N, of_D = self.A * (1.0 * N) ** -self.alpha, self.B * (1.0 * D) ** -self.beta
        return self.E + (of_N ** (1 / self.g) + of_D ** (1 / self.g)) ** self.g


TRUTH = OwnLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37, g=0.6)


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(LAWS, "own", OwnLaw)


@pytest.fixture(scope="module")
def runs():
    """Wide in both sizes: on a narrow set of runs g is hard to tell."""
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e10, 10), np.geomspace(1e8, 1e12, 10)))
    noise = np.exp(0.001 * np.random.Generator(np.random.PCG64(0)).standard_normal(N.size))
    return {"N": N, "D": D, "loss": TRUTH.loss(N, D) * noise}


def test_registering_is_one_call():
    LAWS.pop("own")
    assert register(OwnLaw) is OwnLaw
    assert LAWS["own"] is OwnLaw


@pytest.mark.parametrize("objective", ["huber", "least-squares"])
def test_python(runs, objective):
    found = sl.fit(runs, law="own", objective=objective, bootstrap=20)
    assert found.status == "ok", found.warnings
    assert list(found.params) == ["E", "A", "B", "alpha", "beta", "g"]
    assert found.gradient_norm < 1e-5
    for name, tolerance in {"E": 0.01, "alpha": 0.05, "beta": 0.05, "g": 0.1}.items():
        assert found.params[name].best == pytest.approx(getattr(TRUTH, name), rel=tolerance)
    assert found.params["g"].low < found.params["g"].best < found.params["g"].high
    assert found.sparsity is not None
    assert found.equal_exponents is not None
    assert found.losses_of_draws(1e8, 1e10).shape == (20,)


def test_command_line(runs, tmp_path, capsys):
    path = tmp_path / "runs.csv"
    pd.DataFrame(runs).to_csv(path, index=False)
    command = ["fit", str(path), "--law", "own", "--bootstrap", "20", "--no-leave-out", "--json"]
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert stop.value.code == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["law"] == "own"
    assert shown["params"]["g"]["best"] == pytest.approx(TRUTH.g, rel=0.1)


def test_plan(runs):
    found = sl.plan(sl.fit(runs, law="own", bootstrap=20), budget=1e21, cost="6nd")
    best = sl.plan(TRUTH, budget=1e21, cost="6nd")
    assert found.N.best == pytest.approx(best.N.best, rel=0.1)
    assert found.N.low < found.N.best < found.N.high


def test_profile_of_the_exponents(runs):
    found = sl.fit(runs, law="own", bootstrap=20)
    profile = exponent_profile(found, points=3)
    assert profile.values.min() >= found.value * (1 - 1e-9)


# The same law with and without its terms: the formula's minimiser against the compiled one.

FORMULA = type(
    "FormulaLaw",
    (ChinchillaLaw,),
    {
        "__slots__": (),
        "name": "formula",
        "terms": (),
        "ranges": {
            "E": floor(),
            "A": coefficient("N", "alpha"),
            "B": coefficient("D", "beta"),
            "alpha": exponent(),
            "beta": exponent(),
        },
    },
)


@pytest.mark.parametrize(
    ("objective", "rows"), [("huber", 30), ("l1", 30), ("least-squares", 30), ("huber", 240)]
)
def test_the_formula_finds_what_the_terms_find(monkeypatch, objective, rows):
    monkeypatch.setitem(LAWS, "formula", FORMULA)
    table = noisy_runs(CHINCHILLA_TRUTH, 3, rows)
    draws = 0 if objective == "l1" else 20  # absolute values take many more steps
    compiled = sl.fit(table, objective=objective, bootstrap=draws)
    general = sl.fit(table, law="formula", objective=objective, bootstrap=draws)
    assert general.value == pytest.approx(compiled.value, rel=1e-7)
    assert general.status == compiled.status
    for name, expected in compiled.params.items():
        found = general.params[name].as_dict()
        assert found == pytest.approx(expected.as_dict(), rel=2e-3, nan_ok=True)
    if draws:
        assert general.equal_exponents.p_value == pytest.approx(compiled.equal_exponents.p_value, abs=0.1)


@pytest.mark.parametrize(("loss", "size"), [(1e-6, 1.0), (1.0, 1e-9)])
def test_units_do_not_matter(monkeypatch, loss, size):
    monkeypatch.setitem(LAWS, "formula", FORMULA)
    table = noisy_runs(CHINCHILLA_TRUTH, 2, 60)
    plain = sl.fit(table, law="formula", bootstrap=0)
    scaled = sl.fit(table.assign(N=table.N * size, loss=table.loss * loss), law="formula", bootstrap=0)
    assert scaled.value == pytest.approx(plain.value, rel=1e-7)
    assert scaled.params["alpha"].best == pytest.approx(plain.params["alpha"].best, rel=1e-4)
    assert scaled.params["E"].best == pytest.approx(loss * plain.params["E"].best, rel=1e-6)


def test_what_is_not_there_is_said(monkeypatch):
    """No floor in the runs: the formula's floor is at its bound or not identified, as with terms."""
    monkeypatch.setitem(LAWS, "formula", FORMULA)
    N, D = chinchilla_design(60)
    noise = np.exp(0.002 * np.random.Generator(np.random.PCG64(1)).standard_normal(60))
    table = {"N": N, "D": D, "loss": (3e10 * N**-1.2 + 4e9 * D**-0.95) * noise}
    found = sl.fit(table, law="formula", bootstrap=0)
    assert found.status in {"bound", "E-not-identified"}
    assert any("E " in words for words in found.warnings)


# A sum of powers needs no ranges: three terms, and a size of its own.


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochLaw(Law):
    """L = A N^-a + B D^-b + C epochs^-c: a third column of the table."""

    name: ClassVar[str] = "epochs"
    formula: ClassVar[str] = "L = A N^-a + B D^-b + C epochs^-c"
    sizes: ClassVar[tuple[str, ...]] = ("N", "D", "epochs")
    column_names: ClassVar[dict[str, tuple[str, ...]]] = {"epochs": ("passes",)}
    terms: ClassVar[tuple[Term, ...]] = (Term("A", "N", "a"), Term("B", "D", "b"), Term("C", "epochs", "c"))

    A: float
    B: float
    C: float
    a: float
    b: float
    c: float

    def loss(self, N: Any, D: Any, epochs: Any) -> Any:
        return self.A * N**-self.a + self.B * D**-self.b + self.C * epochs**-self.c


def test_a_third_size(monkeypatch):
    monkeypatch.setitem(LAWS, "epochs", EpochLaw)
    generator = np.random.Generator(np.random.PCG64(2))
    N, D, passes = (np.exp(generator.uniform(0, np.log(top), 80)) for top in (1e3, 1e4, 50))
    truth = EpochLaw(A=2.0, B=3.0, C=0.5, a=0.5, b=0.3, c=0.8)
    table = {"N": N, "D": D, "passes": passes, "loss": truth.loss(N, D, passes)}
    found = sl.fit(table, law="epochs", objective="least-squares", bootstrap=0)
    for name, value in found.params.items():
        assert value.best == pytest.approx(getattr(truth, name), rel=1e-4)
    assert found.sparsity is None
    assert "no exponents" in found.sparsity_reason
    with pytest.raises(sl.InputError, match="no column for epochs"):
        sl.fit({k: v for k, v in table.items() if k != "passes"}, law="epochs")
    with pytest.raises(sl.InputError, match="not of N and D"):
        sl.plan(found, budget=1e9)
