import numpy as np
import pytest

from sparselaw.experiments.paper.grids import SweepSpec, measure
from sparselaw.experiments.paper.item import Context
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import MinNorm
from sparselaw.sweeps.simulate import grid
from sparselaw.trials import run as trial

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


def in_process():
    return Context(
        quick=False,
        run=lambda tasks: [trial.run(t) for t in tasks],
        map=map,
        remember=lambda _, function, cells: [function(cell) for cell in cells],
    )


@pytest.mark.parametrize(("variable", "sizes", "fixed"), [("N", [4, 8], 300), ("D", [30, 60], 5000)])
def test_a_sweep_is_the_trials_of_its_cells(variable, sizes, fixed):
    spec = SweepSpec(
        inputs=INPUTS,
        variable=variable,
        sizes=sizes,
        fixed=fixed,
        features="linear",
        solver=MinNorm(),
        seeds=4,
    )
    (found,) = measure(in_process(), [spec])
    N, D = (sizes, [fixed]) if variable == "N" else ([fixed], sizes)
    plain = np.array([trial.run(task).loss for task in grid(INPUTS, N=N, D=D, seeds=4)]).reshape(2, 4)
    np.testing.assert_allclose(found.losses, plain)  # too few seeds for the control
    np.testing.assert_allclose(found.mean, plain.mean(axis=1))
    np.testing.assert_allclose(found.half_width, 3.1824 * plain.std(axis=1, ddof=1) / 2.0, rtol=1e-4)
    assert [row[variable] for row in found.rows()] == sizes


def test_the_control_keeps_the_mean_and_narrows_it():
    spec = SweepSpec(
        inputs=INPUTS, variable="D", sizes=[400], fixed=10_000, features="linear", solver=MinNorm(), seeds=12
    )
    (found,) = measure(in_process(), [spec])
    records = [trial.run(task) for task in grid(INPUTS, N=[10_000], D=[400], seeds=12)]
    plain = np.array([record.loss for record in records])
    assert found.losses.mean() == pytest.approx(found.mean[0])
    assert found.stderr[0] < 0.3 * plain.std(ddof=1) / np.sqrt(12)
    # Nearly all the loss is the unseen variance, whose mean is known.
    assert found.mean[0] == pytest.approx(records[0].control_mean, rel=0.05)
