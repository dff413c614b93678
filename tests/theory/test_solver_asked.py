"""What ``sl.predict`` takes for a solver, and what it refuses."""

import pytest

import sparselaw as sl
from sparselaw.errors import InputError

INPUTS = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def ask(**settings):
    return sl.predict(INPUTS, N=12, D=200, **settings)


def test_a_name_is_the_solver_with_its_defaults():
    assert ask(solver="min-norm") == ask()
    assert ask(solver="nesterov") == ask(solver=sl.Nesterov())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "sgd"}, r"passes=: is needed by the solver sgd; .* SGD\(passes=...\)"),
        ({"solver": "foo"}, "solver=foo: is not one of the choices"),
        ({"solver": sl.SGD}, r"solver=SGD: is a class and has no settings yet; give an instance: SGD\(...\)"),
        ({"solver": sl.Ridge, "features": "relu"}, "solver=Ridge: is a class"),
        ({"solver": 3}, "solver=3: is not a solver"),
        ({"form": "foo"}, "form=foo: is not one of the choices"),
    ],
)
def test_refused(settings, words):
    with pytest.raises(InputError, match=words):
        ask(**settings)


def test_all_kinds_of_inputs_are_named():
    with pytest.raises(
        InputError, match="give SparseInputs, DenseInputs, TabulatedInputs or EmpiricalInputs"
    ):
        sl.predict(3, N=12, D=200)
