"""Deterministic parts of the linear trials: equal to their naive twins to 1e-10 on the same draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import zeta

from oracles.linear import averaged_min_norm
from oracles.sparse import as_matrix
from sparselaw.data.factor import factorise, left_out
from sparselaw.data.gaussian_span import draw_span, span_of, wishart_root
from sparselaw.data.scaled_gram import scaled_gram
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials.linear_problem import LinearProblem, draw_embedding
from sparselaw.trials.linear_readout import (
    averaged_loss,
    dual_loss,
    inverse_traces,
    loss_of_readout,
    min_norm_loss,
    over_parameterised,
    row_norms,
    train_on_equations,
)


def sparse_problem(inputs, N, D, noise, seed=0):
    rng = np.random.default_rng(seed)
    data = draw_sparse(inputs, D, rng)
    factor = factorise(scaled_gram(data, inputs.amplitudes(data.active)))
    problem = LinearProblem(
        factor=factor.values,
        embedding=draw_embedding(N, data.active.size, rng),
        covariance=inputs.variances(data.active),
        teacher_covariance=None,
        unseen=inputs.unseen_variance(data.active),
        floor=0.0,
        noise=noise,
        width=N,
        samples=D,
    )
    return problem, as_matrix(inputs, data)


INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


@pytest.mark.parametrize(
    ("N", "D"), [(1, 1), (1, 50), (7, 2000), (30, 2000), (70, 2000), (90, 300), (500, 300)]
)
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_min_norm_by_qr_and_by_svd_is_pinv(N, D, noise):
    problem, X = sparse_problem(INPUTS, N, D, noise)
    u, s = problem.embedding, problem.covariance
    naive = averaged_min_norm(X, u, s, problem.unseen, N, noise)
    by_qr, solution = min_norm_loss(MinNorm(), 1e-10, problem)
    by_svd, _ = averaged_loss(MinNorm(), problem)
    assert (solution is None) == (problem.factor.shape[1] >= N)  # the QR sufficed
    assert by_qr == pytest.approx(naive, rel=1e-10)
    assert by_svd == pytest.approx(naive, rel=1e-10)


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "N", "D"), [(1.0, 10.0, 12, 100), (3.0, 10.0, 10, 10_000), (1.0, 6.0, 25, 500)]
)
def test_steep_amplitudes_cost_the_qr_no_more_digits_than_the_svd(alpha1, alpha2, N, D):
    """Condition numbers near 1e9; their squares would leave nothing."""
    compared = 0
    for seed in range(8):
        problem, _ = sparse_problem(SparseInputs(alpha1=alpha1, alpha2=alpha2), N, D, 0.0, seed)
        by_qr, solution = min_norm_loss(MinNorm(), 1e-10, problem)
        by_svd, checked = averaged_loss(MinNorm(), problem)
        if solution is None and checked.status == "ok":
            compared += 1
            assert by_qr == pytest.approx(by_svd, rel=1e-5)
    assert compared >= 3


def test_rank_tolerance_sends_the_qr_to_the_svd():
    problem, X = sparse_problem(INPUTS, 60, 2000, 0.0)
    loss, solution = min_norm_loss(MinNorm(rtol=1e-3), 1e-3, problem)
    assert solution is not None
    assert solution.status == "rank-deficient"
    T = np.linalg.pinv((problem.embedding @ X).T, rcond=1e-3) @ X.T
    error = np.eye(len(X)) - problem.embedding.T @ T
    naive = problem.covariance @ (error**2).sum(axis=1) + problem.unseen * (1 + (T**2).sum() / 60)
    assert loss == pytest.approx(naive, rel=1e-10)


def response_of(settings, Phi):
    """Psi with theta = Psi y, by plain formulas or plain iterations."""
    N, D = Phi.shape
    if isinstance(settings, Ridge):
        return np.linalg.solve(Phi @ Phi.T + settings.ridge * np.eye(N), Phi)
    step, theta = D / np.linalg.norm(Phi, 2) ** 2, np.zeros((N, D))
    for _ in range(settings.steps):
        theta = theta - step * Phi @ (Phi.T @ theta - np.eye(D)) / D
    return theta


@pytest.mark.parametrize("settings", [Ridge(ridge=0.2), Ridge(ridge=1e-6), GradientDescent(steps=40)])
@pytest.mark.parametrize("N", [5, 25, 60])
def test_filters_are_the_plain_solvers(settings, N):
    problem, X = sparse_problem(INPUTS, N, 400, 0.5, seed=3)
    u, s = problem.embedding, problem.covariance
    Psi = response_of(settings, u @ X)
    T = Psi @ X.T
    error = np.eye(len(X)) - u.T @ T
    naive = s @ (error**2).sum(axis=1) + problem.unseen * (1 + (T**2).sum() / N)
    naive += 0.5 * (s @ ((u.T @ Psi) ** 2).sum(axis=1) + problem.unseen * (Psi**2).sum() / N)
    loss, _ = averaged_loss(settings, problem)
    assert loss == pytest.approx(naive, rel=1e-9)


def test_converged_nesterov_is_the_minimum_norm():
    problem, X = sparse_problem(INPUTS, 6, 300, 0.0, seed=4)
    w = np.random.default_rng(1).standard_normal(len(X))
    readout = train_on_equations(Nesterov(), problem, w, np.random.default_rng(2))
    theta = np.linalg.pinv((problem.embedding @ X).T) @ (X.T @ w)
    assert np.allclose(readout.coefficients[:, 0], theta, rtol=1e-5)
    error = w - problem.embedding.T @ theta
    naive = problem.covariance @ error**2 + problem.unseen * (1 + theta @ theta / 6)
    assert loss_of_readout(problem, w, readout.coefficients[:, 0]) == pytest.approx(naive, rel=1e-6)


def test_closed_form_over_u_is_the_mean_of_drawn_embeddings():
    """z < 4 against 3,000 draws of u on one data set, with noise; a false alarm once in 16,000."""
    inputs = SparseInputs(alpha1=0.5, alpha2=0.3)
    losses = []
    rng = np.random.default_rng(6)
    base, X = sparse_problem(inputs, 10, 12, 0.5, seed=9)
    data = draw_sparse(inputs, 12, np.random.default_rng(9))
    factor = factorise(scaled_gram(data, inputs.amplitudes(data.active)))
    N = factor.rank + 10
    for _ in range(3000):
        u = draw_embedding(N, len(X), rng)
        losses.append(averaged_min_norm(X, u, base.covariance, base.unseen, N, 0.5))
    outside = base.unseen + left_out(factor, base.covariance)
    inverse = inverse_traces(factor.dense(), base.covariance)
    exact = over_parameterised(outside, factor.rank, N, 0.5, inverse)
    z = (np.mean(losses) - exact) / (np.std(losses) / np.sqrt(len(losses)))
    assert abs(z) < 4.0
    wrong = over_parameterised(outside, factor.rank - 1, N, 0.5, inverse)  # planted: one rank too few
    assert abs(np.mean(losses) - wrong) > 4.0 * np.std(losses) / np.sqrt(len(losses))


@pytest.mark.parametrize(("m", "alpha"), [(1, 2.3), (3, 0.5), (20, 2.3), (20, 6.0), (60, 1.0)])
def test_span_summarised_is_the_span_factored(m, alpha):
    v = DenseInputs(alpha=alpha).variances(np.arange(1.0, 501.0))
    fast = draw_span(v, m, np.random.default_rng(1))
    z = np.random.default_rng(1).standard_normal((v.size, m))
    slow = span_of(v, z)
    sign = np.sign(np.diag(fast.triangle) * np.diag(slow.triangle))
    assert np.allclose(sign[:, None] * fast.triangle, slow.triangle, rtol=1e-8, atol=1e-12)
    assert np.allclose(sign[:, None] * fast.inside * sign, slow.inside, rtol=1e-8, atol=1e-12)
    assert fast.outside == pytest.approx(slow.outside, rel=1e-10)
    assert fast.outside + np.trace(fast.inside) == pytest.approx(v.sum(), rel=1e-12)


def test_span_outside_is_the_formula_of_the_covariances():
    """tr Sigma - tr(A^-1 u Sigma^2 u^T), A = u Sigma u^T."""
    v = DenseInputs(alpha=1.5).variances(np.arange(1.0, 201.0))
    z = np.random.default_rng(3).standard_normal((200, 10))
    A, B = z.T @ (v[:, None] * z), z.T @ (v[:, None] ** 2 * z)
    assert span_of(v, z).outside == pytest.approx(v.sum() - np.trace(np.linalg.solve(A, B)), rel=1e-10)


def test_steep_spectra_keep_their_digits():
    """Left out at alpha = 12, m = 30: near 1e-18, far below the rounding of the total variance."""
    v = DenseInputs(alpha=12.0).variances(np.arange(1.0, 401.0))
    span = draw_span(v, 30, np.random.default_rng(4))
    assert 0.5 * v[30:].sum() < span.outside < 1e3 * v[30:].sum()


def test_total_variance_is_seen_plus_unseen():
    data = draw_sparse(INPUTS, 500, np.random.default_rng(0))
    seen = INPUTS.variances(data.active).sum()
    assert seen + INPUTS.unseen_variance(data.active) == pytest.approx(
        zeta(INPUTS.power_law().spectrum), rel=1e-14
    )


def dual_setting():
    rng = np.random.default_rng(0)
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    data = draw_sparse(inputs, 400, rng)
    factor = factorise(scaled_gram(data, inputs.amplitudes(data.active)))
    assert factor.triangular
    K = data.active.size
    N = 2 * K // 3
    return (
        factor.values,
        as_matrix(inputs, data),
        inputs.variances(data.active),
        rng.standard_normal((N, K)),
        rng,
    )


def test_dual_errors_are_those_of_pinv():
    F, X, _, u, rng = dual_setting()
    N, K = u.shape
    null = np.linalg.svd(u)[2][N:].T @ rng.standard_normal((K - N, K - N))
    T = np.linalg.pinv((u @ X).T) @ X.T
    error = np.eye(K) - u.T @ T
    assert np.allclose(row_norms(F, null), (error**2).sum(axis=1), rtol=1e-8, atol=1e-13)


def test_dual_norm_is_the_mean_over_wishart_matrices():
    """u = A rows, the rows fixed and A isotropic with A A^T Wishart: the mean of |T|^2 / N over 1,500 A.

    |z| < 4; a factor 1/(K-N) in place of 1/(K-N-1) must fail.
    """
    F, X, s, u, rng = dual_setting()
    N, K = u.shape
    rows = np.linalg.svd(u, full_matrices=False)[2]
    null = np.linalg.svd(u)[2][N:].T
    norms = []
    for _ in range(1500):
        rotation = np.linalg.qr(rng.standard_normal((N, N)))[0]
        drawn = (wishart_root(K, N, rng) / np.sqrt(N)) @ rotation @ rows
        norms.append((np.linalg.solve(drawn @ X @ X.T @ drawn.T, drawn @ X @ X.T) ** 2).sum() / N)
    exact = dual_loss(F, null, s, 1.0) - dual_loss(F, null, s, 0.0) - 1.0
    error = np.std(norms) / np.sqrt(len(norms))
    assert abs(np.mean(norms) - exact) < 4 * error
    assert abs(np.mean(norms) - exact * (K - N - 1) / (K - N)) > 4 * error


def test_dual_and_direct_trials_have_the_same_mean():
    """One data set, 1,500 draws of u and of null spaces; |z| < 4."""
    F, X, s, u, rng = dual_setting()
    N, K = u.shape
    dual = [dual_loss(F, rng.standard_normal((K, K - N)), s, 1e-3) for _ in range(1500)]
    direct = [averaged_min_norm(X, draw_embedding(N, K, rng), s, 1e-3, N, 0.0) for _ in range(1500)]
    assert abs(np.mean(dual) - np.mean(direct)) < 4 * np.hypot(np.std(dual), np.std(direct)) / np.sqrt(1500)
    assert np.std(dual) <= np.std(direct)
