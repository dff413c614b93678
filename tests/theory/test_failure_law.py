import math

import pytest
from scipy.special import zeta

from oracles.failure import plain_spike_probability
from sparselaw.gram.nodes import log_survival, power_sum
from sparselaw.inputs import SparseInputs
from sparselaw.theory.descent import spike_exponent, spike_index, spike_probability


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "threshold", "M"),
    [
        (1.5, -2.0, 30, 2.0, 500),
        (2.0, -1.2, 2, 1.0005, 5000),
        (2.0, -2.5, 100, 2.0, 3000),
        (1.5, -2.0, 4, 2.0, 9),
    ],
)
def test_probability_is_the_plain_product(alpha1, alpha2, D, threshold, M):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=M)
    plain = plain_spike_probability(alpha1, alpha2, D, threshold, M)
    assert plain > 0
    assert spike_probability(inputs, D, threshold) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("first", [2.0, 7.0, 1000.0, 1e9])
@pytest.mark.parametrize("s", [2.2, 3.0, 5.5])
def test_power_sum_is_hurwitz_zeta(s, first):
    assert power_sum(s, first, math.inf) == pytest.approx(float(zeta(s, first)), rel=3e-13)


@pytest.mark.parametrize("s", [0.3, 1.0, 1.7, 3.0])
def test_sums_over_a_narrow_range_lose_no_digits(s):
    low, high = 10**6, 10**6 + 2500
    plain = math.fsum(float(j) ** -s for j in range(low, high + 1))
    assert power_sum(s, float(low), float(high)) == pytest.approx(plain, rel=1e-13)
    plain = math.fsum(-math.log1p(-(float(j) ** -s)) for j in range(3, 4001))
    assert log_survival(s, 3.0, 4000.0) == pytest.approx(plain, rel=1e-13)


def test_the_boundary_coordinate_is_not_a_spike():
    # c_j = j at alpha2 = -2: j = threshold * D is equal, not larger.
    inputs = SparseInputs(alpha1=1.5, alpha2=-2.0)
    assert spike_index(inputs, 100, 2.0) == 200.0
    assert spike_index(inputs, 100, 1.999) == 199.0
    assert spike_index(inputs, 100, 2.00999) == 200.0
    fifth = SparseInputs(alpha1=2.0, alpha2=-1.2)  # c_j = j^0.2, equal at 32^5
    assert spike_index(fifth, 16, 2.0) == 32.0**5


def test_tiny_probabilities_and_huge_indices():
    inputs = SparseInputs(alpha1=2.0, alpha2=-1.2)
    for D in (10**4, 10**7, 10**12):  # j* = (2 D)^5, up to 3e61: the sum is its integral
        assert spike_probability(inputs, D, 2.0) == pytest.approx(D / (2.0 * (2.0 * D) ** 10), rel=1e-11)
    slow = SparseInputs(alpha1=0.01, alpha2=-1.001)  # j* = 2e6^1000 overflows, the probability does not
    assert spike_index(slow, 10**6, 2.0) == math.inf
    assert spike_probability(slow, 10**6, 2.0) == pytest.approx(1e6 / 0.01 * 2e6**-10.0, rel=1e-9)


def test_it_falls_as_the_theorem_says_and_not_otherwise():
    inputs = SparseInputs(alpha1=1.5, alpha2=-2.0)
    slope = -math.log(
        spike_probability(inputs, 10**9, 2.0) / spike_probability(inputs, 10**8, 2.0)
    ) / math.log(10)
    assert spike_exponent(inputs) == 0.5
    assert slope == pytest.approx(0.5, abs=1e-4)
    assert abs(slope - 0.51) > 1e-3  # a planted exponent is told apart


def test_without_growing_amplitudes_or_coordinates_beyond_there_is_no_spike():
    assert spike_probability(SparseInputs(alpha1=1.0, alpha2=-1.0), 10, 2.0) == 0.0
    assert spike_exponent(SparseInputs(alpha1=1.0, alpha2=0.3)) is None
    assert spike_index(SparseInputs(alpha1=1.0, alpha2=0.3), 10, 2.0) == math.inf
    assert spike_probability(SparseInputs(alpha1=2.0, alpha2=-1.2, dimension=5000), 500, 1.0005) == 0.0
    assert spike_probability(SparseInputs(alpha1=1.5, alpha2=-2.0, dimension=200), 100, 2.0) == 0.0
    assert spike_probability(SparseInputs(alpha1=1.5, alpha2=-2.0, dimension=201), 100, 2.0) > 0.0
