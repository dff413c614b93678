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


@pytest.mark.parametrize(
    ("training", "dimension", "off"),
    [
        ({}, float("inf"), 0.01),
        ({}, 3000, 0.1),
        ({"ridge": 0.01}, float("inf"), 0.3),
        ({"noise": 0.01}, 3000, 0.5),
    ],
)
def test_a_draft_is_near_the_curve(training, dimension, off):
    """Exact at few places and straight between them; a peak that is no pole is there too."""
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=dimension)
    draft = leading_along_D(inputs, [16, 64], D, draft=True, **training)
    full = leading_along_D(inputs, [16, 64], D, **training)
    assert [(p.N, p.D, p.K) for p in draft] == [(p.N, p.D, p.K) for p in full]
    assert [p.loss for p in draft] == pytest.approx([p.loss for p in full], rel=off)
