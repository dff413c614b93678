"""Rows that are combinations of longer ones against exact arithmetic."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import sparselaw.data.factor as factor_of_rows
from oracles.exact import independent_rows, variance_outside
from oracles.sparse import as_matrix, gram_of, in_full
from sparselaw.data.factor import (
    CLEAR,
    PIVOT,
    factorise,
    left_out,
    longest_first,
    sparse_factor,
    variance_across,
)
from sparselaw.data.scaled_gram import ScaledGram, dependent_rows
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs


@pytest.fixture(autouse=True)
def sparse_however_small(monkeypatch):
    monkeypatch.setattr(factor_of_rows, "LAPACK_ROWS", 0)


def drawn(alpha1, alpha2, dimension, D, seed=0):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    data = draw_sparse(inputs, D, np.random.default_rng(seed))
    return inputs, data, gram_of(inputs, data)


CASES = [
    (0.1, 0.5, 300, 60),  # as many rows as samples and more
    (-0.5, 0.8, 150, 30),  # far more rows than samples
    (0.2, 3.0, 3000, 100),
    (0.3, 0.3, np.inf, 100),
    (0.3, -1.0, 500, 80),  # amplitudes do not fall, lengths follow the counts
    (0.4, 10.0, 1e6, 100),  # amplitudes down to 1e-33
    (0.6, 2.0, np.inf, 300),
]


@pytest.mark.parametrize(("alpha1", "alpha2", "dimension", "D"), CASES)
def test_rows_are_combinations_of_longer_ones(alpha1, alpha2, dimension, D):
    """The rows kept are those that exact arithmetic keeps, taken from the longest to the shortest."""
    inputs, data, gram = drawn(alpha1, alpha2, dimension, D)
    X = as_matrix(inputs, data)
    found = longest_first(gram)
    kept, gone, T = found.independent, found.dependent, found.mixture.toarray()
    assert gone.size > 0
    assert np.array_equal(np.sort(np.concatenate([kept, gone])), np.arange(len(X)))
    assert kept.tolist() == independent_rows(np.sign(X), np.argsort(gram.length, kind="stable")[::-1])
    assert np.all(gram.length[gone][:, None] <= gram.length[kept] * (1 + 1e-15) + 1e300 * (T == 0.0))
    assert np.allclose(
        (T @ X[kept]) / gram.length[gone][:, None], X[gone] / gram.length[gone][:, None], atol=1e-12
    )
    F = found.triangle if isinstance(found.triangle, np.ndarray) else found.triangle.toarray()
    assert np.allclose(
        F @ F.T, in_full(gram)[np.ix_(kept, kept)], rtol=1e-12, atol=1e-14 * gram.length.max() ** 2
    )


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "dimension", "D"),
    [(0.3, 2.0, np.inf, 25), (0.3, 10.0, np.inf, 25), (0.2, -1.0, 60, 25), (0.1, 6.0, 60, 25)],
)
def test_variance_across_is_exact(alpha1, alpha2, dimension, D):
    inputs, data, gram = drawn(alpha1, alpha2, dimension, D, seed=3)
    amplitude, s = inputs.amplitudes(data.active), inputs.variances(data.active)
    exact = float(variance_outside(np.sign(as_matrix(inputs, data)), amplitude, s))
    found = longest_first(gram)
    assert variance_across(found, s) == pytest.approx(exact, rel=1e-11, abs=0.0)
    factor = sparse_factor(gram)
    assert (factor.rank, left_out(factor, s)) == (found.independent.size, variance_across(found, s))
    wrong = dataclasses.replace(found, mixture=found.mixture * (1 + 1e-6))
    assert variance_across(wrong, s) != pytest.approx(exact, rel=1e-11, abs=0.0)


def test_null_vectors_that_share_a_tiny_coordinate():
    """x_2 = x_3 + x_5 and x_4 = x_3 + x_6 in unit amplitudes, that of x_3 being 1e-30.

    Both null vectors point along x_3 to 30 digits; the second direction is still found.
    """
    signs = np.zeros((6, 8))
    signs[0], signs[2, 0], signs[4, 1], signs[5, 2] = 1.0, 1.0, 1.0, 1.0
    signs[1], signs[3] = signs[2] + signs[4], signs[2] + signs[5]
    amplitude = np.array([1.0, 0.5, 1e-30, 0.25, 0.125, 0.0625])
    unit = signs / np.linalg.norm(signs, axis=1)[:, None]
    length = amplitude * np.linalg.norm(signs, axis=1)
    gram = ScaledGram(length=length, correlation=sparse.csr_array(np.tril(unit @ unit.T)))
    s = np.array([1.0, 0.3, 1e-40, 0.1, 0.02, 0.01])
    exact = float(variance_outside(signs, amplitude, s))
    for factor in (factorise(gram), sparse_factor(gram)):
        assert factor.rank == 4
        assert left_out(factor, s) == pytest.approx(exact, rel=1e-10, abs=0.0)
    assert longest_first(gram).dependent.tolist() == [2, 5]


def test_exact_oracle_on_a_case_by_hand():
    """Rows (1, 1), (1, 0), (0, 1) with amplitudes 1, 1, 1/2: the null vector is (1, -1, -2), of length 6."""
    signs = np.array([[1, 1], [1, 0], [0, 1]])
    found = variance_outside(signs, np.array([1.0, 1.0, 0.5]), np.array([1.0, 0.5, 0.25]))
    assert found == Fraction(1 + Fraction(1, 2) + Fraction(4, 4), 6)
    assert independent_rows(signs, np.array([2, 1, 0])) == [1, 2]


def test_rows_kept_by_the_elimination_alone_may_be_short():
    """Without the exchange of rows a long one is left to be a combination of shorter ones."""
    _, _, gram = drawn(0.4, 10.0, 1e6, 100)
    first, exchanged = dependent_rows(gram.correlation, CLEAR, PIVOT), longest_first(gram).dependent
    assert first.size == exchanged.size
    assert gram.length[exchanged].max() < 1e-6 * gram.length[first].max()


def test_doubt_is_left_to_pivoting():
    """Three rows, the third at a squared distance of 1e-8 from the span of the others."""
    rows = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, np.sqrt(1 - 1e-8), 1e-4]])
    gram = ScaledGram(length=np.ones(3), correlation=sparse.csr_array(np.tril(rows @ rows.T)))
    assert longest_first(gram) is None
    factor = sparse_factor(gram)
    assert (factor.rank, factor.triangular, factor.dependence) == (3, False, None)
