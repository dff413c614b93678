"""A new solver is one record: through Python, the command line and the identity of a task."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.cli.app import _run
from sparselaw.solvers import SOLVERS, Solution, Solver, from_options, register
from sparselaw.trials.task import Task

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
ARGUMENTS = ["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "8", "-D", "60", "--seeds", "3"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyBall(Solver):
    """Gradient descent with momentum at 1/lambda_max, in the eigenbasis."""

    name = "heavy-ball"
    linear = True
    steps: int
    momentum: float = 0.9

    def solve(self, equations):
        eigenvalues = equations.eigenvalues[:, None]
        theta = before = np.zeros_like(equations.projections)
        for _ in range(self.steps):
            gradient = eigenvalues * theta - equations.projections
            theta, before = (
                theta - gradient / eigenvalues[0] + self.momentum * (theta - before),
                theta,
            )
        return Solution(coefficients=theta, iterations=self.steps)


@pytest.fixture(autouse=True)
def _registered():
    register(HeavyBall)
    yield
    del SOLVERS["heavy-ball"]


@pytest.mark.parametrize("features", ["linear", "relu"])
@pytest.mark.parametrize("inputs", [SPARSE, sl.DenseInputs(alpha=2.3, dimension=40)], ids=["sparse", "dense"])
def test_in_python(inputs, features):
    """Without momentum it is gradient descent, on the same draws."""
    settings = {"N": [8, 50], "D": 30, "features": features, "seeds": 3, "workers": 1}
    mine = sl.simulate(inputs, solver=HeavyBall(steps=20, momentum=0.0), **settings)
    plain = sl.simulate(inputs, solver=sl.GradientDescent(steps=20), **settings)
    assert mine["loss"].to_numpy() == pytest.approx(plain["loss"].to_numpy(), rel=1e-9)
    faster = sl.simulate(inputs, solver=HeavyBall(steps=20), **settings)
    assert not np.allclose(faster["loss"], plain["loss"], rtol=1e-3)


def test_on_the_command_line(capsys):
    solver = ["--solver", "heavy-ball", "--steps", "20", "--momentum", "0.5"]
    assert _run([*ARGUMENTS, *solver, "--workers", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    runs = sl.simulate(SPARSE, N=8, D=60, solver=HeavyBall(steps=20, momentum=0.5), seeds=3, workers=1)
    assert printed["solver"] == "heavy-ball"
    assert printed["cells"][0]["mean"] == pytest.approx(runs["loss"].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--solver", "heavy-ball"], "steps=: is needed by the solver heavy-ball"),
        (["--momentum", "0.5"], "momentum=0.5: is not a setting of min-norm"),
        (["--solver", "heavy-ball", "--steps", "3", "--momentum", "much"], "momentum=much: is not a number"),
        (["--seedz", "3"], "seedz=: No such option: --seedz (Possible options: --seed"),
        (["--solver", "heavy-ball", "--steps", "3", "--momentum"], "--momentum' requires an argument"),
        (["loose"], "Got unexpected extra argument(s) (loose)"),
    ],
)
def test_options_that_do_not_fit_are_refused(extra, message, capsys):
    assert _run([*ARGUMENTS, *extra]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_back_from_the_identity():
    task = Task(inputs=SPARSE, N=8, D=60, solver=HeavyBall(steps=5))
    identity = dict(task.identity()["solver"])
    assert from_options(identity.pop("name"), identity) == task.solver


def test_a_solver_bound_to_the_axes_is_refused():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Signs(Solver):
        name = "signs"
        rotation_invariant = False

    with pytest.raises(sl.InputError, match="solver=signs: depends on the axes"):
        Task(inputs=SPARSE, N=8, D=60, solver=Signs())


@pytest.mark.parametrize(
    ("answers", "message"),
    [({}, "must have a method solve"), ({"by_samples": True}, "must have a method solve_samples")],
)
def test_a_solver_that_solves_nothing_is_refused(answers, message):
    with pytest.raises(TypeError, match=message):
        register(type("Idle", (Solver,), {"name": "idle", **answers}))
    assert "idle" not in SOLVERS
