import functools
import math

import numpy as np
import pytest

from oracles.failure import every_data_set, one_sample, two_coordinates
from oracles.forced_spikes import forced_spikes
from sparselaw.failure.direct import binomial_interval, sample_directly
from sparselaw.failure.draw import data_law
from sparselaw.failure.importance import DEFENSIVE, sample_by_importance, weighted_interval
from sparselaw.failure.proposal import bulk_proposal
from sparselaw.inputs import SparseInputs
from sparselaw.theory.descent import spike_index, spike_probability


def weighted(alpha1, alpha2, D, threshold, M=None, *, relative=0.05, seed=1, replicates=40_000):
    proposal = proposal_of(alpha1, alpha2, D, threshold, M)
    rng = np.random.Generator(np.random.PCG64(seed))
    return sample_by_importance(
        proposal, threshold, rng, replicates=replicates, enough=lambda w: w.relative_error < relative
    )


@functools.cache
def proposal_of(alpha1, alpha2, D, threshold, M):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=M)
    return bulk_proposal(inputs, D, threshold, spike_index(inputs, D, threshold))


def deviations(found, exact):
    return abs(math.log(found.bulk.best / exact)) / found.relative_error


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "threshold"),
    [
        (1.0, 0.3, 100, 1.01), (1.0, 0.3, 100, 1.1), (2.0, -1.2, 200, 1.05), (0.3, -1.1, 60, 1.3),
        (2.0, -1.2, 20, 1.9), (3.0, -3.0, 30, 2.0), (2.0, -2.0, 40, 2.5),
    ],
)  # fmt: skip
def test_two_coordinates_down_to_very_small_probabilities(alpha1, alpha2, D, threshold):
    exact = two_coordinates(alpha1, alpha2, D, threshold)
    found = weighted(alpha1, alpha2, D, threshold, 2)
    assert found.status == "ok"
    # 4.5 standard errors: false alarm 7e-6 each; a weight wrong by a third would be 6 of them.
    assert deviations(found, exact) < 4.5
    assert deviations(found, 1.5 * exact) > 4.5


def test_the_exact_cases_reach_below_1e_12():
    assert two_coordinates(1.0, 0.3, 100, 1.1) < 1e-18
    assert two_coordinates(2.0, -1.2, 20, 1.9) < 1e-12


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "M", "threshold"),
    [(2.0, -1.2, 3, 3, 1.9), (1.5, -2.0, 2, 5, 2.6), (2.0, 0.0, 4, 3, 1.4), (2.0, -2.0, 2, 5, 3.4)],
)
def test_small_cases_against_every_data_set(alpha1, alpha2, D, M, threshold):
    exact = every_data_set(alpha1, alpha2, D, M, threshold)  # no coordinate up to M is a spike here
    assert spike_index(SparseInputs(alpha1=alpha1, alpha2=alpha2), D, threshold) >= M
    assert 1e-7 < exact < 0.2
    assert deviations(weighted(alpha1, alpha2, D, threshold, M), exact) < 4.5


@pytest.mark.parametrize("threshold", [1.5, 2.0, 3.0])
def test_one_sample(threshold):
    exact = one_sample(2.0, 0.0, 14, threshold)
    found = weighted(2.0, 0.0, 1, threshold, 14)
    assert deviations(found, exact) < 4.5


TEN = [
    (2.0, -1.2, 1000, 1.0005, 5000), (2.0, -1.2, 2000, 1.0005, 5000), (1.5, -2.0, 30, 2.0, None),
    (1.5, -2.0, 100, 2.0, None), (1.0, 0.3, 100, 1.01, 2), (1.0, 0.3, 6, 1.2, None),
    (3.0, -3.0, 20, 2.0, None), (2.0, -2.0, 3, 2.0, None), (2.0, -2.5, 20, 1.5, None),
    (-0.5, 0.8, 20, 1.05, 30),
]  # fmt: skip


@pytest.mark.parametrize(("alpha1", "alpha2", "D", "threshold", "M"), TEN)
def test_ten_settings_agree_with_direct_sampling(alpha1, alpha2, D, threshold, M):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=M)
    index = spike_index(inputs, D, threshold)
    law = data_law(inputs, D, index, min(index, inputs.dimension))
    rng = np.random.Generator(np.random.PCG64(2))
    direct = sample_directly(law, threshold, rng, replicates=400_000, failures=100)
    chance = direct.failures / direct.replicates
    assert direct.failures > 20
    assert 1e-4 < chance < 0.15
    found = weighted(alpha1, alpha2, D, threshold, M)
    spread = math.hypot(direct.failures**-0.5, found.relative_error)
    # 4 deviations of the difference: 6e-5 each, 6e-4 in all.
    assert abs(math.log(found.bulk.best / chance)) < 4 * spread
    ours, theirs = found.bulk, binomial_interval(direct.failures, direct.replicates)
    assert max(ours.low, theirs.low) <= min(ours.high, theirs.high)


def test_intervals_cover_as_often_as_they_say():
    alpha1, alpha2, D, threshold, M = TEN[4]  # the one whose probability is known exactly
    exact = two_coordinates(alpha1, alpha2, D, threshold)
    assert 1e-4 < exact < 0.1
    found = [
        weighted(alpha1, alpha2, D, threshold, M, relative=0.1, seed=seed, replicates=4000)
        for seed in range(120)
    ]
    inside = sum(f.bulk.contains(exact) for f in found)
    # 114 expected of 120, deviation 2.4: 104 is 4 below; intervals half as wide would hold 81.
    assert inside >= 104
    mean = sum(f.bulk.best for f in found) / len(found)
    assert abs(mean / exact - 1) < 4 * 0.08 / 120**0.5  # no bias from stopping or learning


def test_a_planted_error_in_the_weights_is_found():
    exact = two_coordinates(1.0, 0.3, 100, 1.02)
    found = weighted(1.0, 0.3, 100, 1.02, 2, relative=0.03)
    assert found.bulk.contains(exact)
    assert not found.bulk.contains(exact * 1.25)


def test_no_failure_and_few_failures_give_hard_limits():
    none = weighted_interval(np.array([]), 1000)
    assert (none.bulk.low, none.bulk.best, none.status) == (0.0, 0.0, "low-ess")
    assert none.bulk.high == pytest.approx(-math.log(0.025) / (1000 * DEFENSIVE))
    few = weighted_interval(np.log([1e-9, 2e-9]), 1000)
    assert few.status == "low-ess"
    assert few.bulk.high > none.bulk.high


def test_weights_never_pass_the_defensive_limit():
    inputs = SparseInputs(alpha1=2.0, alpha2=-2.0)
    proposal = bulk_proposal(inputs, 3, 2.0, spike_index(inputs, 3, 2.0))
    from sparselaw.failure.draw import work_space
    from sparselaw.failure.importance import weigh_failures

    components = len(proposal.tables.kind)
    shares = np.full(components, (1 - DEFENSIVE) / components)
    shares[0] += DEFENSIVE
    space, rng = work_space(proposal.law, proposal.most_active), np.random.Generator(np.random.PCG64(0))
    log_weight, parts = weigh_failures(rng, proposal.law, proposal.tables, np.log(shares), space, 6.0, 5000)
    failed = np.isfinite(log_weight)
    assert failed.any()
    assert np.exp(log_weight[failed]).max() <= 1 / DEFENSIVE
    assert parts[failed].sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "M"), [(1.5, -2.0, 2, None), (2.0, -1.2, 10_000, None), (1.5, -2.0, 100, 300)]
)
def test_forced_spikes_recover_the_exact_law_and_all_fail(alpha1, alpha2, D, M):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=M)
    forced = forced_spikes(inputs, D, 2.0, replicates=2000)
    exact = spike_probability(inputs, D, 2.0)
    width = max(forced.probability.high - forced.probability.best, 1e-9 * exact)
    assert abs(forced.probability.best - exact) < 2.5 * width  # 4.9 deviations
    assert min(j ** (-alpha2 - 1.0) for j in forced.coordinates) > 2.0 * D  # one diagonal entry is enough
