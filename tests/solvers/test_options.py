"""A solver from its name and options, and back."""

import pytest

import sparselaw as sl
from sparselaw.errors import InputError
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import SOLVERS, as_solver, from_options, settings_of
from sparselaw.trials.task import Task

RECORDS = [
    sl.MinNorm(rtol=1e-8),
    sl.Ridge(ridge=0.1),
    sl.GradientDescent(steps=10**20, step=0.5),
    sl.Nesterov(max_iterations=7),
    sl.SGD(passes=3, batch=2),
    sl.SGD(passes=3, momentum=0.9),
    sl.SGD(passes=3, step=0.1, schedule="wsd:0.8,end=0"),
]


def test_every_solver_is_listed():
    assert {record.name for record in RECORDS} == set(SOLVERS)


def test_momentum_changes_an_identity_only_where_there_is_some():
    """Runs that were kept before there was a momentum keep their ids."""
    assert "momentum" not in settings_of(sl.SGD(passes=3))
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    ids = {Task(inputs=inputs, N=4, D=9, solver=sl.SGD(passes=3, momentum=m)).id for m in (0.0, 0.5, 0.9)}
    assert len(ids) == 3


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_back_from_settings_and_from_text(record):
    assert from_options(record.name, settings_of(record)) == record
    text = {name: None if value is None else str(value) for name, value in settings_of(record).items()}
    again = from_options(record.name, text)
    assert again == record
    assert [type(v) for v in settings_of(again).values()] == [type(v) for v in settings_of(record).values()]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("newton", {}, "solver=newton: is not one of the choices; choose gd or min-norm or"),
        ("min-norm", {"ridge": "1"}, "ridge=1: is not a setting of min-norm"),
        ("ridge", {}, r"ridge=: is needed by the solver ridge; give --ridge, or in Python Ridge\(ridge="),
        ("nesterov", {"max-iterations": "ten"}, "max_iterations=ten: is not a number"),
        ("sgd", {"passes": "1", "momentum": "1"}, "momentum=1: must be below 1; choose momentum < 1"),
        ("gd", {"steps": "1.5"}, "steps=1.5: is not a whole number"),
        ("sgd", {"passes": "1", "step": "0"}, "step=0: must be positive"),
        ("sgd", {"passes": "1", "step": "inf"}, "step=inf: is not finite"),
    ],
)
def test_bad_options_are_refused(name, options, message):
    with pytest.raises(InputError, match=message):
        from_options(name, options)


def test_what_is_no_solver_is_refused():
    assert as_solver("min-norm") == sl.MinNorm()
    with pytest.raises(InputError, match="solver=3: is not a solver"):
        Task(inputs=SparseInputs(alpha1=1, alpha2=0.3), N=3, D=9, solver=3)


def test_a_whole_step_is_the_same_task_as_a_real_one():
    whole, real = (
        Task(inputs=SparseInputs(alpha1=1, alpha2=0.3), N=3, D=9, solver=sl.GradientDescent(steps=5, step=s))
        for s in (1, 1.0)
    )
    assert whole.id == real.id
