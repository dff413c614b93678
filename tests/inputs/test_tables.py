"""Inputs that say only p_j and c_j: what follows by plain sums equals what a law in closed form says."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.errors import InputError
from sparselaw.inputs import ActivationInputs, SparseInputs
from sparselaw.predicting import predict
from sparselaw.theory.surface import loss_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain(ActivationInputs):
    """The power law without its closed forms."""

    kind = "plain"
    alpha1: float
    alpha2: float
    dimension: float = 300.0

    @classmethod
    def from_options(cls, given, dimension):
        return cls(alpha1=given["alpha1"], alpha2=given["alpha2"], dimension=dimension or 300.0)

    def probabilities(self, j):
        return j ** -(self.alpha1 + 1.0)

    def squared_amplitudes(self, j):
        return j ** -(self.alpha2 + 1.0)


SETTINGS = [(1.0, 0.3), (0.5, 1.0), (2.0, -0.5)]


@pytest.mark.parametrize(("alpha1", "alpha2"), SETTINGS)
def test_sums_equal_the_closed_forms(alpha1, alpha2):
    plain = Plain(alpha1=alpha1, alpha2=alpha2)
    law = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=300)
    assert plain.expected_nonzeros() == pytest.approx(law.expected_nonzeros(), rel=1e-12)
    assert plain.tail_rate(7) == pytest.approx(law.tail_rate(7), rel=1e-12)
    assert plain.tail_variance(7) == pytest.approx(law.tail_variance(7), rel=1e-12)
    assert [plain.last_above(p) for p in (1.0, 0.5, 0.01)] == [law.last_above(p) for p in (1.0, 0.5, 0.01)]
    for D in (10, 1000):
        assert plain.expected_seen(D) == pytest.approx(law.expected_seen(D), rel=1e-12)
        assert plain.expected_unseen(D) == pytest.approx(law.expected_unseen(D), rel=1e-12)
    for size in (5.0, 40.0):
        log_k = np.log(law.variances(np.array([size + 1.0])))
        assert plain.population(size).at(log_k).S == pytest.approx(law.population(size).at(log_k).S)


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize(("N", "D"), [(12, 2000), (60, 500), (25, 40)])
def test_surface_equals_that_of_the_law(N, D, ridge, noise):
    plain = predict(Plain(alpha1=1.0, alpha2=0.3), N=N, D=D, ridge=ridge, noise=noise)
    law = predict(SparseInputs(alpha1=1.0, alpha2=0.3, dimension=300), N=N, D=D, ridge=ridge, noise=noise)
    slope = noise > 0.0 and ridge == 0.0  # what noise adds above the rank is a difference of two closures
    assert plain.loss == pytest.approx(law.loss, rel=1e-6 if slope else 1e-9)
    assert plain.caution == law.caution
    assert math.isnan(plain.xi)


def test_tail_is_drawn_by_its_law():
    """z below 4.4 for each of 40 coordinates: a false alarm in 2,000 seeds; a wrong exponent gives z = 30."""
    plain, rng = Plain(alpha1=0.5, alpha2=0.3), np.random.default_rng(5)
    draws = plain.draw_tail(3, 100_000, rng)
    j = np.arange(4.0, 301.0)
    weight = -np.log1p(-(j**-1.5))
    expected = 100_000 * weight / weight.sum()
    counts = np.bincount(draws.astype(int), minlength=301)[4:]
    z = (counts - expected) / np.sqrt(expected)
    assert np.abs(z[:40]).max() < 4.4
    wrong = j**-1.6 / np.sum(j**-1.6) * 100_000
    assert np.abs((counts - wrong) / np.sqrt(wrong))[:40].max() > 10.0


def test_drawn_data_show_as_many_coordinates_as_expected():
    """The mean of 400 data sets within 4 standard errors: a false alarm in 16,000 seeds."""
    plain, rng = Plain(alpha1=1.0, alpha2=0.3), np.random.default_rng(1)
    seen = np.array([draw_sparse(plain, 50, rng).active.size for _ in range(400)])
    assert abs(seen.mean() - plain.expected_seen(50)) < 4.0 * seen.std() / 20.0


def test_refusals():
    with pytest.raises(InputError, match="coordinate by coordinate"):
        Plain(alpha1=1.0, alpha2=0.3, dimension=math.inf).expected_seen(10)
    with pytest.raises(InputError, match="follow no power law"):
        Plain(alpha1=1.0, alpha2=0.3).power_law()
    with pytest.raises(InputError, match="describes no inputs"):
        predict("x", N=3, D=4)
    assert loss_at(Plain(alpha1=1.0, alpha2=0.3), 12.5, 300.0) > 0.0
