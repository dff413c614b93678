"""Values at and next to every boundary: right answers or a clear error, never nan, never a hang."""

import math

import pytest
from scipy.special import zeta

from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.predicting import predict
from sparselaw.theory.scaling_limit import frontier, scaling_function

CORNERS = [
    (-1.0, 0.001),
    (-1.0, 2.0),
    (-1.0 + 1e-9, 0.5),
    (0.0, 0.5),
    (-1e-9, 0.5),
    (1e-9, 0.5),
    (1e-3, 0.5),
    (0.05, -1.0),
    (1.0, -2.0 + 1e-6),
    (1.0, -1.0),
    (1.0, -1.0 - 1e-12),
    (20.0, 0.1),
    (20.0, -15.0),
    (1.0, 20.0),
    (30.0, 30.0),
]
SIZES = [(1, 1), (1, 10**6), (10**6, 1), (2, 3), (10**9, 10**13), (10**15, 10**15)]


@pytest.mark.parametrize(("alpha1", "alpha2"), CORNERS)
@pytest.mark.parametrize(("N", "D"), SIZES)
@pytest.mark.parametrize(("ridge", "noise"), [(0.0, 0.0), (0.3, 0.2), (0.0, 0.2)])
def test_corners_give_a_number_or_a_reason(alpha1, alpha2, N, D, ridge, noise):
    model = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    point = predict(model, N=N, D=D, ridge=ridge, noise=noise)
    assert not math.isnan(point.loss)
    assert point.loss >= 0.0
    assert math.isinf(point.loss) == bool(point.loss_reason)
    assert point.K >= 1.0 - 1e-12


# The sums converge ever more slowly as alpha1 tends to 0.
SLOW_SUMS = (1e-9, 0.5)


@pytest.mark.parametrize(
    ("alpha1", "alpha2"),
    [pytest.param(*pair, marks=pytest.mark.slow if pair == SLOW_SUMS else ()) for pair in CORNERS],
)
def test_corners_have_a_frontier_and_constants(alpha1, alpha2):
    model = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    assert model.power_law().model_constant >= 1.0
    for xi in (1e-3, 0.5, 2.0, 1e3):
        assert scaling_function(model, xi) > 0.0
    if model.exponents.alpha_N > 0.01:
        assert frontier(model).best.constant > 0.0


def test_a_very_sparse_model_sees_only_the_first_coordinate():
    model = SparseInputs(alpha1=20.0, alpha2=0.5)
    assert predict(model, N=10**6, D=1, surface="leading").loss == pytest.approx(zeta(22.5) - 1.0, rel=1e-5)


def test_dense_activation_is_the_dense_surface():
    sparse = predict(SparseInputs(alpha1=-1.0, alpha2=1.5, dimension=500), N=30, D=90)
    dense = predict(DenseInputs(alpha=1.5, dimension=500), N=30, D=90)
    assert sparse.loss == pytest.approx(
        dense.loss, rel=0.02
    )  # signs have no fourth moment: 1 % less at D = 90
    leading = [predict(one, N=30, D=90, surface="leading").loss for one in (
        SparseInputs(alpha1=-1.0, alpha2=1.5, dimension=500), DenseInputs(alpha=1.5, dimension=500)
    )]  # fmt: skip
    assert leading[0] == pytest.approx(leading[1], rel=1e-9)


def test_cautions_say_where_not_to_trust():
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    assert predict(model, N=64, D=50_000).caution == ""
    assert predict(model, N=16, D=50_000).caution == ""
    assert "peak" in predict(model, N=396, D=50_000).caution
    assert "off by" in predict(model, N=10, D=300).caution
    assert predict(SparseInputs(alpha1=0.5, alpha2=0.3), N=10**4, D=1000).caution == ""
    # a ridge flattens the peak
    assert "peak" not in predict(model, N=396, D=50_000, ridge=1.0).caution


def test_cautions_of_the_leading_surface():
    def caution(alpha1, N, D, **settings):
        model = SparseInputs(alpha1=alpha1, alpha2=0.3)
        return predict(model, N=N, D=D, surface="leading", **settings).caution

    assert caution(1.0, 64, 50_000) == ""
    assert "peak" in caution(1.0, 396, 50_000)
    assert "1/N" in caution(1.0, 3, 50_000)
    assert "co-activation" in caution(0.5, 10**4, 1000)
    assert "samples" in caution(0.1, 64, 10_000)
    assert "peak" not in caution(1.0, 396, 50_000, ridge=1.0)


def test_more_sizes_than_coordinates_leave_no_loss():
    assert predict(DenseInputs(alpha=1.0, dimension=10), N=20, D=30).loss == 0.0
    dense = DenseInputs(alpha=1.0, dimension=10)
    assert predict(dense, N=20, D=30, noise=0.5).loss == pytest.approx(0.5 * 10.0 / 19.0)
    assert predict(dense, N=20, D=30, noise=0.5, surface="leading").loss == pytest.approx(0.25)
    assert math.isinf(predict(DenseInputs(alpha=1.0, dimension=10), N=20, D=10, noise=0.5).loss)


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "dimension", "name"),
    [
        (-1.1, 1.0, None, "alpha1"),
        (1.0, -2.0, None, "alpha2"),
        (math.nan, 0.0, None, "alpha1"),
        (1.0, math.inf, None, "alpha2"),
        (1e3, 0.0, None, "alpha1"),
        ("x", 0.0, None, "alpha1"),
        (1.0, 0.3, 0, "dimension"),
        (1.0, 0.3, 2.5, "dimension"),
        (0.0, 0.3, math.inf, "dimension"),
    ],
)
def test_bad_models_are_refused(alpha1, alpha2, dimension, name):
    with pytest.raises(InputError, match=f"^{name}="):
        SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)


@pytest.mark.parametrize(
    ("name", "value"),
    [("N", 0), ("N", -3), ("D", 0.5), ("D", math.inf), ("N", "many"), ("ridge", -1.0), ("noise", math.nan)],
)
def test_bad_sizes_are_refused(name, value):
    arguments = {"N": 10, "D": 10} | {name: value}
    with pytest.raises(InputError, match=f"^{name}="):
        predict(SparseInputs(alpha1=1.0, alpha2=0.3), **arguments)


def test_an_unseen_variance_whose_square_is_zero():
    assert predict(SparseInputs(alpha1=2.0, alpha2=-2.9, dimension=2), N=2, D=4393).loss >= 0.0
