import numpy as np
import pytest
from scipy.stats import chisquare

from sparselaw.errors import InputError
from sparselaw.failure.draw import (
    activation_range,
    data_law,
    draw_coordinate,
    draw_data,
    poisson_range,
    work_space,
)
from sparselaw.inputs import SparseInputs


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("s", [0.5, 1.0, 1.6, 3.0])
@pytest.mark.parametrize("kind", ["poisson", "activation"])
def test_rare_coordinates_follow_their_law(s, kind):
    first, last = 4, 12
    law = (poisson_range if kind == "poisson" else activation_range)(s, float(first), float(last))
    p = np.arange(first, last + 1.0) ** -s
    weights = -np.log1p(-p) if kind == "poisson" else p
    assert law.mass == pytest.approx(weights.sum(), rel=1e-12)
    rng = generator(1)
    drawn = np.array([draw_coordinate(rng, law) for _ in range(20_000)])
    counts = np.bincount(drawn.astype(int), minlength=last + 1)[first:]
    # False alarm 1e-5 a case, 8 cases; the other law is told apart where p is not small.
    assert chisquare(counts, 20_000 * weights / weights.sum()).pvalue > 1e-5
    wrong = np.arange(first, last + 1.0) ** -(s + 0.5)
    assert chisquare(counts, 20_000 * wrong / wrong.sum()).pvalue < 1e-5


def test_huge_coordinates_are_spread_over_their_range():
    law = activation_range(3.0, 3.19e21, 3.2e21)  # beyond 64-bit integers
    rng = generator(2)
    drawn = np.array([draw_coordinate(rng, law) for _ in range(4000)])
    place = (drawn - law.first) / (law.last - law.first)
    assert 0 <= place.min() < place.max() <= 1
    assert abs(place.mean() - 0.5) < 5 * 12**-0.5 / 4000**0.5 + 0.005  # 5 deviations; the law is nearly flat


@pytest.mark.parametrize(("alpha1", "M"), [(1.0, np.inf), (0.5, 60), (-0.4, 30), (-1.0, 5)])
def test_every_coordinate_is_seen_as_often_as_it_should(alpha1, M):
    inputs = SparseInputs(alpha1=alpha1, alpha2=0.8 - min(alpha1, 0), dimension=M)
    D, rounds = 20, 4000
    law = data_law(inputs, D, np.inf, inputs.dimension)
    space, rng = work_space(law, float(law.active.sum())), generator(3)
    tally, beyond = np.zeros(30), 0
    for _ in range(rounds):
        _, _, count, rare_j = draw_data(rng, law, space)
        index = np.concatenate([np.arange(len(law.active)) + 2.0, rare_j])
        np.add.at(tally, index[index < 30].astype(int), count[index < 30])
        beyond += count[index >= 30].sum()
    last = int(min(M, 29))
    p = np.arange(2.0, last + 1) ** -(alpha1 + 1)
    deviation = np.sqrt(rounds * D * p * (1 - p))
    # 5 deviations: below 1e-4 false alarms in all; a probability wrong by 20 % would show at j = 2.
    assert (np.abs(tally[2 : last + 1] - rounds * D * p) <= 5 * deviation + 1e-9).all()
    if M == np.inf:
        rest = rounds * D * (np.pi**2 / 6 - 1 - p.sum())
        assert abs(beyond - rest) < 5 * rest**0.5


def test_signs_and_samples_are_even():
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    law = data_law(inputs, 10, np.inf, np.inf)
    space, rng = work_space(law, float(law.active.sum())), generator(4)
    signs, samples = [], []
    for _ in range(3000):
        size, *_ = draw_data(rng, law, space)
        signs.append(space.sign[:size].copy())
        samples.append(space.sample[:size].copy())
    signs, samples = np.concatenate(signs), np.concatenate(samples)
    assert abs(signs.sum()) < 5 * len(signs) ** 0.5
    assert chisquare(np.bincount(samples, minlength=10)).pvalue > 1e-5


def test_too_many_nonzeros_are_refused():
    with pytest.raises(InputError, match="D="):
        data_law(SparseInputs(alpha1=1.0, alpha2=0.3), 10**10, np.inf, np.inf)
