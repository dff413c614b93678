"""The compiled sampler of failure and the vectorised one of trials follow one law.

Both draw the same number of data sets; every statistic of a data set is compared by the z-score of the two
means. A z beyond 5 has probability 6e-7, below 1e-4 for all statistics here together.
"""

import functools

import numpy as np
import pytest

from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.failure.draw import data_law, draw_data, poisson_range, work_space
from sparselaw.inputs import SparseInputs

LIMIT = 5.0
LONE = np.arange(2, 13)
EDGES = np.array([13, 20, 50, 200, 1e4, np.inf])
NAMES = [
    *(f"count of {j}" for j in LONE), *(f"count up to {edge:g}" for edge in EDGES[1:]),
    "logs of the tail", "pairs in a sample", "rare pairs in a sample", "seen", "seen squared", "seen once",
    "signs", "signs squared",
]  # fmt: skip


def statistics(sample, j, sign, D):
    """Of one data set as its nonzeros, coordinate 1 left out."""
    _, often = np.unique(j, return_counts=True)
    together, rare = np.bincount(sample, minlength=D), np.bincount(sample[j > 5], minlength=D)
    return [
        *((j == lone).sum() for lone in LONE),
        *np.histogram(j, EDGES)[0],
        np.log(j[j > 12]).sum(),
        (together * (together - 1)).sum() / 2,
        (rare * (rare - 1)).sum() / 2,
        often.size,
        often.size**2,
        (often == 1).sum(),
        sign.sum(),
        sign.sum() ** 2,
    ]


@functools.cache
def of_trials(inputs, D, rounds):
    rng = np.random.Generator(np.random.PCG64(1))
    rows = []
    for _ in range(rounds):
        data = draw_sparse(inputs, D, rng)
        later = data.column > 0
        j = data.active[data.column[later]]
        rows.append(statistics(data.sample[later], j, data.sign[later].astype(int), D))
    return np.array(rows)


def of_failure(inputs, D, rounds, change=None, move=None):
    law = data_law(inputs, D, np.inf, inputs.dimension)
    law = law if change is None else change(law)
    space = work_space(law, float(law.active.sum()))
    rng = np.random.Generator(np.random.PCG64(2))
    common = np.arange(len(law.active)) + 2.0
    rows = []
    for _ in range(rounds):
        size, _, _, rare = draw_data(rng, law, space)
        j = np.concatenate([common, rare])[space.coordinate[:size]]
        sample = space.sample[:size] if move is None else move(space.sample[:size], j)
        rows.append(statistics(sample, j, space.sign[:size].astype(int), D))
    return np.array(rows)


def scores(a, b):
    """z of the difference of the means; statistics that are always the same have none."""
    spread = np.sqrt(a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b))
    gap = a.mean(axis=0) - b.mean(axis=0)
    assert (gap[spread == 0] == 0).all()
    return dict(zip(NAMES, np.divide(gap, spread, out=np.zeros_like(gap), where=spread > 0), strict=True))


def wrong(found):
    return {name: z for name, z in found.items() if abs(z) > LIMIT}


INFINITE = SparseInputs(alpha1=1.0, alpha2=0.3)
CASES = [
    (INFINITE, 300, 1000),
    (SparseInputs(alpha1=0.4, alpha2=-0.9, dimension=5000), 60, 600),
    (SparseInputs(alpha1=-0.4, alpha2=1.0, dimension=40), 20, 600),
]


@pytest.mark.parametrize(("inputs", "D", "rounds"), CASES)
def test_both_samplers_follow_one_law(inputs, D, rounds):
    ours, theirs = of_failure(inputs, D, rounds), of_trials(inputs, D, rounds)
    assert wrong(scores(ours, theirs)) == {}
    seen, lone = NAMES.index("seen"), slice(0, LONE.size)
    for drawn in (ours, theirs):  # and it is the law they should follow
        mean, error = drawn.mean(axis=0), drawn.std(axis=0, ddof=1) / rounds**0.5
        assert abs(mean[seen] + 1 - inputs.expected_seen(D)) < LIMIT * error[seen]
        assert (abs(mean[lone] - D * inputs.probabilities(LONE.astype(float))) < LIMIT * error[lone]).all()


def test_a_tail_three_per_cent_too_steep_is_found():
    def steeper(law):
        return law._replace(rare=poisson_range(1.03 * law.rare.s, law.rare.first, law.rare.last))

    found = wrong(scores(of_failure(*CASES[0], change=steeper), of_trials(*CASES[0])))
    assert "logs of the tail" in found
    assert not any(name.startswith("count of") for name in found)  # the common coordinates are untouched


def test_rare_coordinates_that_seek_company_are_found():
    def huddle(sample, j):
        return np.where(j > 5, sample - sample % 2, sample)

    found = wrong(scores(of_failure(*CASES[0], move=huddle), of_trials(*CASES[0])))
    assert set(found) == {"pairs in a sample", "rare pairs in a sample"}
