"""Points for the page are the library's: losses to the last bit, rank and cautions closely."""

import pytest

from sparselaw.explore.quick_points import leading_along_D
from sparselaw.inputs import SparseInputs
from sparselaw.numbers import sizes
from sparselaw.theory import prediction

D = sizes("D", "10:100000:40")


@pytest.mark.parametrize("training", [{}, {"ridge": 0.1, "noise": 0.01}, {"noise": 0.1}])
def test_quick_points_are_the_library_s(training):
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=3000)
    quick = leading_along_D(inputs, [64], D, **training)
    slow = prediction(inputs, [64], D, surface="leading", **training).points
    assert [p.loss for p in quick] == [p.loss for p in slow]
    assert [p.K for p in quick] == [p.K for p in slow]
    assert [p.xi for p in quick] == [p.xi for p in slow]
    assert [p.loss_reason for p in quick] == [p.loss_reason for p in slow]
    assert [p.rank for p in quick] == pytest.approx([p.rank for p in slow], rel=0.02)
    differ = sum(bool(p.caution) != bool(q.caution) for p, q in zip(quick, slow, strict=True))
    assert differ <= 1  # the place where a caution ends is read off between two others


@pytest.mark.parametrize("exponents", [(1.0, 0.3), (0.5, 0.3), (2.0, 0.0), (1.5, -2.0)])
@pytest.mark.parametrize("dimension", [float("inf"), 3000])
@pytest.mark.parametrize(
    "training",
    [{}, {"noise": 1e-4}, {"noise": 0.01}, {"noise": 1.0}, {"ridge": 0.1}, {"ridge": 0.1, "noise": 0.1}],
)
def test_a_draft_is_within_a_few_per_cent(exponents, dimension, training):
    """Label noise, ridge and the end of the dimension included; infinite where the curve is."""
    alpha1, alpha2 = exponents
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    D = sizes("D", "10:300000:12")
    draft = leading_along_D(inputs, [16, 64], D, draft=True, **training)
    full = prediction(inputs, [16, 64], D, surface="leading", **training).points
    assert [(p.N, p.D) for p in draft] == [(p.N, p.D) for p in full]
    assert [p.K for p in draft] == pytest.approx([p.K for p in full], rel=1e-9)
    assert [p.loss for p in draft] == pytest.approx([p.loss for p in full], rel=0.05)


def test_a_draft_without_a_ridge_to_speak_of_is_that_without_one():
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    none, little = (leading_along_D(inputs, [16, 64], D, draft=True, ridge=ridge) for ridge in (0.0, 1e-30))
    for p, q in zip(none, little, strict=True):
        assert q.loss == pytest.approx(p.loss, rel=0.1 if abs(p.N - p.K) < 0.1 * p.N else 0.02)
