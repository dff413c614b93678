"""Fits by array operations are those of the compiled loops, and load no compiler."""

import subprocess
import sys

import numpy as np
import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.fitting import kernel
from sparselaw.fitting.fitted_runs import Runs, Sweeps
from sparselaw.fitting.newton_side_by_side import damped_steps
from sparselaw.fitting.prepare import prepare
from sparselaw.fitting.without_compiler import MOST_ROWS, by_arrays, without_compiler
from sparselaw.laws import ChinchillaLaw, PowerLaw

TABLE = noisy_runs(CHINCHILLA_TRUTH, 3, 80, 0.005)


@pytest.mark.parametrize("objective", ["huber", "least-squares"])
@pytest.mark.parametrize("law", ["chinchilla", "two-power", "one-exponent", "coupled"])
def test_both_ways_end_at_the_same_minimum(law, objective):
    asked = {"law": law, "objective": objective, "bootstrap": 0, "leave_out": law == "chinchilla"}
    compiled = sl.fit(TABLE, **asked)
    with without_compiler():
        arrays = sl.fit(TABLE, **asked)
    assert arrays.value == pytest.approx(compiled.value, rel=1e-9)
    assert arrays.status == compiled.status
    for name, value in compiled.params.items():
        assert arrays.params[name].best == pytest.approx(value.best, rel=1e-5)
    for one, other in zip(arrays.leave_out, compiled.leave_out, strict=True):
        assert one.alpha1.best == pytest.approx(other.alpha1.best, rel=1e-5)


def in_sweeps():
    rng = np.random.default_rng(5)
    x, sweep = np.tile(np.geomspace(4, 256, 9), 2), np.repeat([0, 1], 9)
    sweeps = Sweeps(size="N", other="D", values=np.array([1.0, 2.0]), index=sweep)
    loss = x**-0.7 * np.exp(0.1 * rng.standard_normal(18))
    return prepare(PowerLaw, Runs(sizes={"x": x}, loss=loss, scale=rng.uniform(0.5, 2.0, 18), sweeps=sweeps))


def of_runs(**settings):
    sizes = {name: TABLE[name].to_numpy() for name in ("N", "D")}
    scale = np.random.default_rng(6).uniform(0.5, 2.0, len(TABLE))
    return prepare(ChinchillaLaw, Runs(sizes=sizes, loss=TABLE.loss.to_numpy(), scale=scale), **settings)


DESIGNS = {
    "all": of_runs(), "tied": of_runs(tied=True), "no floor": of_runs(floor=False), "sweeps": in_sweeps(),
}  # fmt: skip


@pytest.mark.parametrize("delta", [1e-2, np.inf])
@pytest.mark.parametrize("kind", DESIGNS)
def test_derivatives_are_those_of_the_compiled_loop(kind, delta):
    design = DESIGNS[kind]
    rng = np.random.default_rng(7)
    thetas = rng.uniform(-0.5, 0.5, (3, design.free))
    weights = rng.integers(0, 3, (3, design.rows)).astype(float)
    found = design.slopes(thetas).derivatives(
        design.log_loss[None, :], design.inverse_scale, weights, np.full(3, delta)
    )
    for i, theta in enumerate(thetas):
        p = design.free
        gradient, hessian, size = np.empty(p), np.empty((p, p)), np.empty(p)
        value = kernel.derivatives(theta, design.problem(weights[i]), delta, gradient, hessian, size)
        for one, other in zip(found, (value, gradient, hessian, size), strict=True):
            np.testing.assert_allclose(one[i], other, rtol=1e-10, atol=1e-10 * max(np.abs(other).max(), 1.0))


def test_damped_steps_are_those_of_the_compiled_loop():
    """Positive, indefinite and held matrices side by side."""
    rng = np.random.default_rng(8)
    root = rng.standard_normal((6, 4, 4))
    hessian = root @ root.swapaxes(1, 2)
    hessian[2] -= 10.0 * np.eye(4)
    gradient, size, damping = rng.standard_normal((6, 4)), rng.uniform(1, 2, (6, 4)), np.full(6, 0.1)
    free = rng.uniform(size=(6, 4)) < 0.8
    steps, solved = damped_steps(hessian, gradient, size, damping, free)
    assert solved.tolist() == [True, True, False, True, True, True]
    for i in range(6):
        step = np.empty(4)
        assert kernel.damped_step(hessian[i], gradient[i], size[i], damping[i], free[i], step) == solved[i]
        if solved[i]:
            np.testing.assert_allclose(steps[i], step, rtol=1e-9, atol=1e-12)


def test_the_switch_is_off_again_and_large_tables_are_compiled():
    assert not by_arrays(10)
    with without_compiler():
        assert by_arrays(MOST_ROWS)
        assert not by_arrays(MOST_ROWS + 1)
        with without_compiler(False):
            assert not by_arrays(10)
    assert not by_arrays(10)


def test_a_command_without_draws_loads_no_compiler_and_no_pandas(tmp_path):
    TABLE.to_csv(tmp_path / "runs.csv", index=False)
    code = (
        "import sys; from sparselaw.cli import main\n"
        f"sys.argv = ['sparselaw', 'fit', {str(tmp_path / 'runs.csv')!r}, '--bootstrap', '0']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('loaded:', *sorted({'numba', 'pandas', 'scipy.optimize'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]
