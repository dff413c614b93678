"""Plans by the theory of SGD: the one-pass law, unique data, and what is refused."""

import json

import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.errors import InputError

INPUTS = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def test_one_pass():
    found = sl.plan(INPUTS, 1e8, train="sgd", step=0.5)
    assert found.N.best * found.D.best == pytest.approx(1e8, rel=1e-6)
    assert found.alpha_C == pytest.approx(2.3 / 4.3)
    assert found.slope == pytest.approx(found.alpha_C, rel=0.01)
    assert (found.growth.N.best, found.growth.D.best) == pytest.approx((1 / 4.3, 3.3 / 4.3))
    for factor in (0.7, 1.4):
        loss = sl.predict(
            INPUTS, N=round(factor * found.N.best), D=round(found.D.best / factor),
            solver=sl.SGD(passes=1, step=0.5), form="quasi-static",
        ).loss  # fmt: skip
        assert loss > found.loss.best
    assert found.training.largest_stable_step == pytest.approx(1.67, abs=0.01)
    assert 2.0 < found.training.critical_batch < 8.0
    six = sl.plan(INPUTS, 6e8, cost="6nd", train="sgd", step=0.5)
    assert six.N.best == pytest.approx(found.N.best, rel=1e-3)


def test_unique_data(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", "--alpha1", "1", "--alpha2", "0.3", "--budget", "1e7", "--train", "sgd",
              "--step", "0.5", "--unique-data", "2000", "--json"])  # fmt: skip
    assert stop.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert {"N", "D", "passes", "loss", "effective_data"} <= set(found)
    assert found["passes"]["best"] == pytest.approx(found["D"]["best"] / 2000.0)
    assert found["effective_data"]["best"] < found["D"]["best"]
    endless = sl.plan(INPUTS, 1e7, train="sgd", step=0.5)
    assert endless.loss.best < found["loss"]["best"]
    worth = found["training"]["worth"]
    assert worth[0]["epochs"] == pytest.approx(1.0, rel=0.02)
    assert worth[-1]["epochs"] < worth[-1]["passes"]
    assert found["training"]["decay"] > 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"train": "adam"}, "train=adam"),
        ({"step": 0.5}, "train=: is missing"),
        ({"train": "sgd", "step": -1.0}, "step=-1"),
        ({"train": "sgd", "step": 5.0}, "step=5"),
        ({"train": "sgd", "batch": 0}, "batch=0"),
        ({"train": "sgd", "unique_data": 0.0}, "unique-data=0"),
        ({"train": "sgd", "noise": -0.1}, "noise=-0.1"),
    ],
)
def test_refusals(settings, said):
    with pytest.raises(InputError, match=said):
        sl.plan(INPUTS, 1e6, **settings)


def test_a_law_of_runs_has_no_step():
    law = sl.ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.35)
    with pytest.raises(InputError, match="theory"):
        sl.plan(law, 1e20, train="sgd")
