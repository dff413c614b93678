"""A teacher of unequal weights: against simulation with that teacher, and its exponents."""

import json

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.theory.teacher import predict_teacher, teacher_exponents

INPUTS = sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=400)


def simulated(N, D, weights, seeds):
    """Minimum norm on drawn data, the mean over teachers of these mean squares taken exactly."""
    j = np.arange(1.0, 401.0)
    p, c = j**-2.0, j**-1.3
    losses = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = (rng.random((400, D)) < p[:, None]) * rng.choice([-1.0, 1.0], (400, D)) * np.sqrt(c)[:, None]
        u = rng.standard_normal((N, 400)) / np.sqrt(N)
        features = u @ x
        answer = np.linalg.pinv(features.T, rcond=1e-10) @ x.T  # theta = answer @ w
        missed = np.eye(400) - u.T @ answer
        losses.append(float((p * c) @ (missed**2 @ weights)))
    return np.array(losses)


@pytest.mark.parametrize(("N", "D"), [(12, 500), (80, 500)])
@pytest.mark.parametrize("b", [0.0, 0.8])
def test_against_simulation(N, D, b):
    """Twelve data sets: within four standard errors and 8 % (the leading surface); a wrong b is not."""
    weights = np.arange(1.0, 401.0) ** -b
    losses = simulated(N, D, weights, 12)
    found = predict_teacher(INPUTS, N=N, D=D, teacher=b).loss
    allowed = 4.0 * losses.std() / np.sqrt(12) + 0.08 * found
    assert abs(losses.mean() - found) < allowed
    assert predict_teacher(INPUTS, N=N, D=D, teacher=weights).loss == pytest.approx(found, rel=1e-9)
    assert abs(losses.mean() - predict_teacher(INPUTS, N=N, D=D, teacher=b + 1.0).loss) > allowed


def test_equal_weights_are_the_surface():
    infinite = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    for inputs in (INPUTS, infinite, sl.TabulatedInputs([0.3, 0.1, 0.01], [1.0, 2.0, 1.0])):
        for N in (2, 40, 900):
            point = predict_teacher(inputs, N=N, D=3000, teacher=0.0)
            assert point.loss == pytest.approx(point.plain_loss, rel=1e-6)


@pytest.mark.parametrize("b", [-0.5, 0.7, 2.0])
def test_the_exponents_are_those_of_large_sizes(b):
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    law = teacher_exponents(inputs, b)
    one, two = (predict_teacher(inputs, N=10**9, D=D, teacher=b).loss for D in (10**6, 4 * 10**6))
    assert np.log(one / two) / np.log(4.0) == pytest.approx(law.alpha_D, rel=0.01)
    one, two = (predict_teacher(inputs, N=N, D=10**13, teacher=b).loss for N in (200, 800))
    assert np.log(one / two) / np.log(4.0) == pytest.approx(law.alpha_N, rel=0.03)


def test_refusals():
    with pytest.raises(sl.InputError, match="infinite"):
        teacher_exponents(sl.SparseInputs(alpha1=1.0, alpha2=0.3), -2.5)
    for inputs, teacher in (
        (sl.DenseInputs(alpha=1.0), 1.0), (INPUTS, [1.0, 2.0]), (sl.SparseInputs(alpha1=1, alpha2=0), [1.0]),
    ):  # fmt: skip
        with pytest.raises(sl.InputError):
            predict_teacher(inputs, N=4, D=9, teacher=teacher)


def test_the_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "predict",
                "--alpha1",
                "1",
                "--alpha2",
                "0.3",
                "--teacher",
                "0.5",
                "-N",
                "64",
                "-D",
                "5000",
                "--json",
            ]
        )
    assert stop.value.code == 0
    said = json.loads(capsys.readouterr().out)["teacher"]
    assert said["alpha_D"] == pytest.approx(1.4)
    assert said["points"][0]["loss"] < said["points"][0]["plain_loss"]
