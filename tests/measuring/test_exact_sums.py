"""Sums that know no order: against fractions, in any order, in any split."""

import numpy as np
import pytest

from oracles.measure import exact_sum
from sparselaw.measuring import exact_sums


def total(numbers, order=None, parts=1):
    values = np.asarray(numbers, dtype=float)
    if order is not None:
        values = values[order]
    cells = exact_sums.empty((parts, 1))
    block = np.arange(values.size) % parts
    exact_sums.add_numbers(block, np.zeros(values.size, np.int64), values.view(np.int64), cells)
    for part in range(1, parts):
        exact_sums.merge_cells(cells[0], np.array([0]), cells[part])
    return exact_sums.totals(cells[0])[0]


@pytest.mark.parametrize("spread", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("signed", [False, True])
def test_the_sum_is_that_of_fractions_in_every_order_and_split(spread, signed):
    rng = np.random.default_rng(int(10 * spread))
    numbers = np.exp(spread * rng.standard_normal(500))
    if signed:
        numbers *= rng.choice([-1.0, 1.0], 500)
    first = total(numbers)
    assert abs(first - exact_sum(numbers)) <= 500 * 2.0**-53 * np.abs(numbers).max()
    for split in (1, 2, 7):
        for _ in range(5):
            assert total(numbers, rng.permutation(500), split) == first


def test_a_plain_sum_would_not_pass():
    rng = np.random.default_rng(0)
    numbers = np.exp(3.0 * rng.standard_normal(500))
    plain = {float(np.cumsum(numbers[rng.permutation(500)])[-1]) for _ in range(20)}
    assert len(plain) > 1


def test_extremes():
    assert total([5e-324, 5e-324]) == 1e-323
    assert total([1e300, 1e-300]) == 1e300
    assert total([1e300, 1e300]) == 2e300
    assert total([0.0, 0.0]) == 0.0
    assert total([1.0] * 1000) == 1000.0
    cells = exact_sums.ones(np.array([0, 3, 2**31], np.uint32))
    assert exact_sums.totals(cells).tolist() == [0.0, 3.0, 2.0**31]
