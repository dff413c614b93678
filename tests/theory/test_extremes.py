"""Sizes and exponents at the ends of what numbers can hold give a loss between 0 and the whole variance."""

import pytest

import sparselaw as sl


@pytest.mark.parametrize("alpha1", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("alpha2", [-0.9, 5.0, 30.0])
@pytest.mark.parametrize("N", [1, 10**100])
def test_the_largest_tables_have_a_loss(alpha1, alpha2, N):
    """Squared amplitudes of the rarest coordinates are zero in double precision here."""
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
    assert 0.0 <= sl.predict(inputs, N=N, D=10**100).loss <= 1.1 * sl.predict(inputs, N=1, D=1).loss


def test_more_samples_than_can_be_squared_are_refused():
    with pytest.raises(sl.InputError, match="beyond what the theory can compute"):
        sl.predict(sl.SparseInputs(alpha1=1.0, alpha2=0.3), N=10, D=1e300)


def test_label_noise_without_a_mean_is_infinite():
    """Once a division by zero: no data set of few samples fits the noise at a finite cost."""
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    assert sl.predict(inputs, N=3, D=7, noise=0.2).loss == float("inf")
