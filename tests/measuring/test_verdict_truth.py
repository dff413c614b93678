"""The verdict of a learning curve on features whose answer is known, on each side of its limits."""

import math

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
from sparselaw.interval import student_interval
from sparselaw.measuring import measured_losses
from sparselaw.measuring.measured_losses import Splits, left_open

ROWS = 1500


def one_at_a_time(rng):
    """One feature a row, by a power law: what was never shown is all that is left."""
    p = np.arange(1.0, 2001.0) ** -1.6
    column = rng.choice(2000, ROWS, p=p / p.sum())
    return sparse.csr_matrix((rng.choice([-1.0, 1.0], ROWS), (np.arange(ROWS), column)), shape=(ROWS, 2000))


def field(rng, length):
    """A Gaussian field of 200 places cut below one: independent for length 0, else neighbours go together."""
    place = np.arange(200)
    covariance = np.exp(-np.abs(place[:, None] - place) / length) if length > 0.0 else np.eye(200)
    x = rng.standard_normal((ROWS, 200)) @ np.linalg.cholesky(covariance).T
    return sparse.csr_matrix(np.where(np.abs(x) > 1.0, x, 0.0) * (place + 1.0) ** -0.3)


def of_all_sizes(rng):
    """Independent features in rows whose sizes differ a hundredfold: a few rows decide."""
    p = np.minimum(0.5, 2.0 * np.arange(1.0, 301.0) ** -0.7)
    x = (rng.random((ROWS, 300)) < p) * rng.standard_normal((ROWS, 300))
    return sparse.csr_matrix(x * np.exp(2.0 * rng.standard_normal((ROWS, 1))))


@pytest.mark.parametrize(
    ("made", "D", "known"),
    [
        (one_at_a_time, [60, 240], "unseen"),
        (lambda rng: field(rng, 0.0), [40, 120], "sparse"),
        (lambda rng: field(rng, 0.5), [40, 120], "sparse"),  # random signs change the loss by 1 %
        (lambda rng: field(rng, 2.0), [40, 120], "covariance"),  # by 26 %
        (lambda rng: field(rng, 8.0), [40, 120], "covariance"),  # by all of it
        (of_all_sizes, [60, 240], "none"),
    ],
    ids=["one at a time", "independent", "hardly together", "together", "smooth", "of all sizes"],
)
def test_the_verdict_is_the_truth(made, D, known):
    found = sl.learn(made(np.random.default_rng(0)), D=D, N=[], seeds=2)
    assert found.verdict == known, found.errors


def test_features_that_were_all_shown_are_not_unseen():
    found = sl.measure(field(np.random.default_rng(1), 4.0))
    assert found.regime == "shown"
    assert "sparsity limits nothing" in found.sentences()[0]
    assert not found.tests
    assert "< 1e-10 %" in {row[3] for row in found.table_rows()[1]}


def baskets(count, rng):
    """Long and short baskets of 400 items, rare and frequent."""
    p = 0.6 * np.arange(1, 401) ** -1.1
    long = np.exp(0.8 * rng.standard_normal(count))[:, None]
    return sparse.csr_array((rng.random((count, 400)) < np.minimum(p * long, 1.0)).astype(float))


@pytest.mark.parametrize(("D", "draws", "apart"), [(40, 3, True), (64, 10, False), (250, 3, False)])
def test_the_interval_of_the_measured_curve_holds_fresh_rows(D, draws, apart, monkeypatch):
    """720 rows: 95 % of the intervals hold what fresh rows give, whether draws have rows of their own or not.

    Of 60 files at least 53 do by a chance of 0.99; of draws that share rows, Student's interval of their
    losses holds fewer.
    """
    if apart:
        monkeypatch.setattr(measured_losses, "TEST_ROWS", (100, 200))
    rng = np.random.default_rng(D)
    fresh = [left_open(baskets(D, rng), baskets(1000, rng)) for _ in range(80)]
    truth = sum(f.open.sum() for f in fresh) / sum(f.squares.sum() for f in fresh)
    held = alone = 0
    for i in range(60):
        x, splits = baskets(720, rng), Splits(720, D, draws, i)
        assert splits.apart == apart
        found = [left_open(x[train], x[test]) for train, test, _ in splits]
        held += splits.interval(found).low <= truth <= splits.interval(found).high
        own = student_interval([part.open.sum() / part.squares.sum() for part in found])
        alone += own.low <= truth <= own.high
    assert held >= 53
    assert apart or alone < held


def test_draws_with_rows_of_their_own_share_none():
    rows = np.concatenate([np.concatenate([train, test]) for train, test, _ in Splits(9000, 400, 2, 0)])
    assert np.unique(rows).size == rows.size == 8800
    assert not Splits(8700, 400, 2, 0).apart


def test_one_draw_has_no_interval():
    rng = np.random.default_rng(0)
    found = Splits(50, 10, 1, 0).interval([left_open(baskets(10, rng), baskets(40, rng))])
    assert math.isnan(found.low)
    assert found.best > 0.0
