import numpy as np
import pytest
from scipy.stats import binom, fisher_exact

from oracles.failure import direct_rate, every_data_set, one_sample
from sparselaw.failure.direct import binomial_interval, sample_directly
from sparselaw.failure.draw import data_law
from sparselaw.inputs import SparseInputs
from sparselaw.theory.descent import spike_index, spike_probability


def counts(alpha1, alpha2, D, threshold, M=None, *, replicates=20_000, failures=10**9, seed=1):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=M)
    law = data_law(inputs, D, spike_index(inputs, D, threshold), inputs.dimension)
    rng = np.random.Generator(np.random.PCG64(seed))
    return sample_directly(law, threshold, rng, replicates=replicates, failures=failures)


def plausible(found, chance):
    """Two-sided, false alarm 1e-5."""
    k, n = found.failures, found.replicates
    return min(binom.cdf(k, n, chance), binom.sf(k - 1, n, chance)) > 0.5e-5


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "M", "threshold"),
    [
        (0.5, -1.2, 3, 3, 1.3),
        (1.0, -1.0, 4, 3, 1.5),
        (0.5, -1.4, 2, 5, 2.0),
        (1.0, 0.3, 3, 3, 1.0),
        (-1.0, 1.0, 3, 3, 1.2),
    ],
)
def test_small_cases_against_every_data_set(alpha1, alpha2, D, M, threshold):
    exact = every_data_set(alpha1, alpha2, D, M, threshold)
    found = counts(alpha1, alpha2, D, threshold, M)
    assert 0.01 < exact < 0.99
    assert plausible(found, exact)
    assert not plausible(found, 1.5 * exact if exact < 0.5 else 0.8 * exact)  # a planted error shows


@pytest.mark.parametrize("threshold", [1.0, 1.3, 2.2])
def test_one_sample_has_its_squared_length(threshold):
    exact = one_sample(0.5, -1.3, 12, threshold)
    assert plausible(counts(0.5, -1.3, 1, threshold, 12), exact)


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "M", "threshold"), [(2.0, -1.2, 50, 100, 1.002), (0.3, 0.2, 20, 100, 1.1)]
)
def test_medium_cases_against_dense_data(alpha1, alpha2, D, M, threshold):
    dense = direct_rate(5, alpha1, alpha2, D, M, threshold, 1500)
    found = counts(alpha1, alpha2, D, threshold, M)
    table = [[dense, 1500 - dense], [found.failures, found.replicates - found.failures]]
    assert fisher_exact(table).pvalue > 1e-5


def test_spikes_come_as_often_as_their_law_says():
    inputs = SparseInputs(alpha1=1.5, alpha2=-2.0)
    for D in (30, 300, 3000):
        found = counts(1.5, -2.0, D, 2.0)
        spike = spike_probability(inputs, D, 2.0)
        # 5 deviations, 6e-7 each; the law's next power, D^-0.4, would be 20 deviations off at D = 3000.
        assert abs(found.spikes - 20_000 * spike) < 5 * (20_000 * spike) ** 0.5


@pytest.mark.parametrize(
    ("D", "failures", "seeds"), [(500, 185, 500), (1000, 132, 1000), (2000, 40, 2000), (5000, 1, 3000)]
)
def test_table_four_of_the_paper(D, failures, seeds):
    found = counts(2.0, -1.2, D, 1.0005, 5000, replicates=20_000)
    table = [[failures, seeds - failures], [found.failures, found.replicates - found.failures]]
    assert fisher_exact(table).pvalue > 1e-3
    theirs, ours = binomial_interval(failures, seeds), binomial_interval(found.failures, found.replicates)
    assert max(theirs.low, ours.low) <= min(theirs.high, ours.high)


def test_stops_at_the_failure_asked_for_and_repeats_itself():
    a = counts(2.0, -1.2, 1000, 1.0005, 5000, failures=37)
    assert a.failures == 37
    assert a == counts(2.0, -1.2, 1000, 1.0005, 5000, failures=37)
    assert a != counts(2.0, -1.2, 1000, 1.0005, 5000, failures=37, seed=2)
    assert counts(2.0, -1.2, 1000, 1.0005, 5000, replicates=a.replicates - 1).failures == 36


def test_binomial_interval_is_clopper_and_pearson():
    interval = binomial_interval(3, 50)
    assert binom.sf(2, 50, interval.low) == pytest.approx(0.025)
    assert binom.cdf(3, 50, interval.high) == pytest.approx(0.025)
    assert binomial_interval(0, 10).low == 0.0
    assert binomial_interval(10, 10).high == 1.0
    assert binomial_interval(0, 0).high == 1.0


def test_more_failures_than_a_machine_number_are_never_reached():
    law = (1.0, -1.5, 50, 2.0)
    assert counts(*law, replicates=2000, failures=int(1e308)) == counts(*law, replicates=2000)


def test_progress_with_huge_numbers():
    inputs = SparseInputs(alpha1=1.0, alpha2=-1.5)
    law = data_law(inputs, 50, spike_index(inputs, 50, 2.0), inputs.dimension)
    told = []
    rng = np.random.Generator(np.random.PCG64(1))
    how = {"replicates": 2000, "failures": int(1e308), "progress": lambda *said: told.append(said)}
    sample_directly(law, 2.0, rng, **how)
    assert told[-1][1] == 2000
