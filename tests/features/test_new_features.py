"""New features are one class: through Python, the command line and another process."""

import json
import pickle

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.cli.app import _run
from sparselaw.features import FEATURES, FeatureMap, register
from sparselaw.sweeps import cells
from sparselaw.trials.task import Task

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


class Softplus(FeatureMap):
    """f(z) = log(1 + e^z) = z/2 + an even part."""

    name = "softplus"
    odd_slope = 0.5

    def apply(self, z):
        return np.logaddexp(0.0, z, out=z)


@pytest.fixture(autouse=True)
def _registered():
    register(Softplus())
    yield
    FEATURES.pop("softplus", None)


@pytest.mark.parametrize("inputs", [SPARSE, sl.DenseInputs(alpha=2.3, dimension=40)], ids=["sparse", "dense"])
def test_in_python(inputs):
    runs = sl.simulate(inputs, N=[8, 60], D=30, features="softplus", seeds=3, workers=1)
    assert (runs["features"] == "softplus").all()
    assert np.isfinite(runs["loss"]).all()


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", ["softplus", "leaky-relu", "gelu", "tanh", "erf", "sign", "abs"])
def test_on_the_command_line(name, raw, capsys, monkeypatch):
    if name != "softplus":  # one theory is enough: its tables take a second
        monkeypatch.setattr(cells, "_theory", lambda _first: {"theory": None, "theory_reason": ""})
    sizes = [
        "-N",
        "8",
        "-D",
        "300",
        "--seeds",
        "3",
        "--workers",
        "1",
        *(["--raw", "--n-test", "100"] if raw else []),
    ]
    command = ["simulate", "--alpha1", "1", "--alpha2", "0.3", *sizes, "--features", name, "--json"]
    printed = []
    for _ in range(2):
        assert _run(command) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    found = json.loads(printed[0])
    how = {"estimator": "raw", "n_test": 100} if raw else {}
    runs = sl.simulate(SPARSE, N=8, D=300, features=name, seeds=3, workers=1, **how)
    assert found["features"] == name
    assert found["cells"][0]["mean"] == pytest.approx(runs["loss"].mean(), rel=1e-12)
    if name == "softplus":
        assert 0.3 < found["cells"][0]["theory"] / runs["loss"].mean() < 3.0


def test_a_task_brings_its_features_along():
    task = Task(inputs=SPARSE, N=4, D=9, features="softplus")
    sent = pickle.dumps(task)
    del FEATURES["softplus"]  # as in a process that was never told
    assert pickle.loads(sent) == task
    assert isinstance(FEATURES["softplus"], Softplus)
