"""Population loss of a linear readout in the eigenbasis, for every solver.

With the SVD Y = U F = V S R^T, E = U^T V and B = F R, a filter h of the eigenvalues S^2/D gives
theta = V g R^T t with g = h S / D, hence U^T theta = E g B^T a + E g R^T eta. Then the averages over the
teacher a and the noise eta are traces.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.linalg import blas, lapack, qr, solve_triangular

from sparselaw.arrays import FloatArray
from sparselaw.data.scaled_gram import Triangle, solve
from sparselaw.data.sparse_samples import SparseData, draw_sparse, sign_matrix
from sparselaw.inputs import ActivationInputs
from sparselaw.solvers import Solution, Solver
from sparselaw.solvers.base import NormalEquations
from sparselaw.solvers.sgd import MixedRows
from sparselaw.trials.linear_problem import LinearProblem, OneTeacher
from sparselaw.trials.task import Task, random_stream

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigenbasis:
    """A linear problem prepared for any number of filters and teachers."""

    problem: LinearProblem
    singular: FloatArray  # (m,) the positive singular values of Y, descending
    basis: FloatArray  # V (k, m)
    left: FloatArray  # E (n, m)
    right: FloatArray  # B (n, m)

    @property
    def eigenvalues(self) -> FloatArray:
        return self.singular**2 / self.problem.samples


def prepare(problem: LinearProblem) -> Eigenbasis:
    features = problem.embedding @ problem.factor
    basis, singular, rows = scipy.linalg.svd(features, full_matrices=False, check_finite=False)
    kept = singular > EPSILON * max(features.shape) * singular[0]
    basis = basis[:, kept]
    return Eigenbasis(
        problem=problem,
        singular=singular[kept],
        basis=basis,
        left=problem.embedding.T @ basis,
        right=problem.factor @ rows[kept].T,
    )


def averaged_loss(solver: Solver, problem: LinearProblem) -> tuple[float, Solution]:
    """Mean over teacher and noise for a solver that is a linear filter.

    The solver is given the root mean square of each projection, so that its figures (gradient, status) mean
    what they say; the filter is what it does to them.
    """
    eigenbasis = prepare(problem)
    singular, right = eigenbasis.singular, eigenbasis.right
    power = quadratic_rows(right.T, problem.teacher_covariance) + problem.noise
    projections = singular * np.sqrt(power) / problem.samples
    equations = NormalEquations(
        eigenvalues=eigenbasis.eigenvalues, projections=projections[:, None], samples=problem.samples
    )
    solution = solver.solve(equations)
    if solution.status == "diverged" or not np.isfinite(solution.coefficients).all():
        return float("inf"), solution
    moving = projections > 0.0
    gain = np.zeros_like(singular)
    gain[moving] = solution.coefficients[moving, 0] / np.sqrt(power[moving])
    scaled = right * gain
    error = -(eigenbasis.left @ scaled.T)
    error[np.diag_indices(error.shape[0])] += 1.0
    seen = weighted(problem.covariance, error, problem.teacher_covariance)
    return _with_the_rest(problem, seen, scaled, eigenbasis.left * gain, float(gain @ gain)), solution


def _with_the_rest(
    problem: LinearProblem, seen: float, readout: FloatArray, response: FloatArray, size: float
) -> float:
    """The loss from its seen part, where theta answers to a by ``readout`` and to noise by ``response``.

    ``size`` is the squared norm of the second in theta's own basis.
    """
    norm = float(quadratic_rows(readout.T, problem.teacher_covariance).sum())
    loss = problem.floor + seen + problem.unseen * (1.0 + norm / problem.width)
    if problem.noise > 0.0:
        variance = weighted(problem.covariance, response, None)
        loss += problem.noise * (variance + problem.unseen * size / problem.width)
    return loss


def weighted(covariance: FloatArray, matrix: FloatArray, inner: FloatArray | None) -> float:
    """tr(Sigma matrix inner matrix^T), Sigma diagonal or full."""
    if covariance.ndim == 1:
        return float(covariance @ quadratic_rows(matrix, inner))
    product = matrix if inner is None else matrix @ inner
    return float(np.sum((covariance @ product) * matrix))


def quadratic_rows(rows: FloatArray, inner: FloatArray | None) -> FloatArray:
    """row inner row^T for every row."""
    total: FloatArray = np.einsum("ij,ij->i", rows if inner is None else rows @ inner, rows)
    return total


# One teacher, one label noise, one readout: for solvers whose answer cannot be averaged over teachers.


def train(task: Task, drawn: OneTeacher) -> Solution:
    """The readout of one draw by the solver of ``task``: theta (k, 1) in the rows of the embedding.

    A solver that takes one sample after the other has label noise for each, so that with noise the targets
    are given sample by sample.
    """
    solver, problem, counts = task.solver, drawn.problem, drawn.counts
    noise = random_stream(task, "noise")
    if not solver.by_samples:
        return train_on_equations(solver, problem, drawn.teacher, noise)
    assert drawn.samples is not None
    rows: FloatArray | MixedRows
    if solver.takes_mixed and isinstance(drawn.samples, sparse.csr_array):
        rows = MixedRows(samples=drawn.samples, mixing=problem.embedding)
    else:
        rows = np.asarray(drawn.samples @ problem.embedding.T)
    targets = np.asarray(drawn.samples @ drawn.teacher)
    if problem.noise > 0.0:
        if counts is not None:
            targets = np.repeat(targets, counts)
        targets = targets + np.sqrt(problem.noise) * noise.standard_normal(targets.size)
    return solver.solve_samples(rows, targets[:, None], random_stream(task, "order"), counts)


def train_on_equations(
    solver: Solver, problem: LinearProblem, teacher: FloatArray, noise: np.random.Generator
) -> Solution:
    """The readout theta (k, 1) for teacher a (n,) by any solver that works on the normal equations."""
    eigenbasis = prepare(problem)
    label_noise = np.sqrt(problem.noise) * noise.standard_normal(eigenbasis.singular.size)
    target = eigenbasis.right.T @ teacher + label_noise
    equations = NormalEquations(
        eigenvalues=eigenbasis.eigenvalues,
        projections=(eigenbasis.singular * target / problem.samples)[:, None],
        samples=problem.samples,
    )
    solution = solver.solve(equations)
    theta = eigenbasis.basis @ solution.coefficients[:, 0]
    return dataclasses.replace(solution, coefficients=theta[:, None])


def loss_of_readout(problem: LinearProblem, teacher: FloatArray, theta: FloatArray) -> float:
    """The population loss of theta (k,), averaged over what the data never show."""
    error = teacher - problem.embedding.T @ theta
    seen = weighted(problem.covariance, error[:, None], None)
    return problem.floor + problem.unseen * (1.0 + float(theta @ theta) / problem.width) + seen


# The paper's own estimator: the mean squared error on one fresh test set, with one teacher.
#
# It has the law of the naive recipe, but costs as little as the rest. Sparse: test samples are drawn by their
# nonzeros; for a coordinate that training never showed, w_j - u_j . theta is one Gaussian of variance 1 +
# |theta|^2/N.


def activations_test_loss(task: Task, drawn: OneTeacher, train: SparseData, theta: FloatArray) -> float:
    inputs = cast(ActivationInputs, task.inputs)
    rng = random_stream(task, "test")
    test = draw_sparse(inputs, task.n_test, rng)
    _, in_train, in_test = np.intersect1d(train.active, test.active, return_indices=True)
    deviation = np.sqrt(1.0 + float(theta @ theta) / task.N)
    error = deviation * rng.standard_normal(test.active.size)  # of the coordinates never seen in training
    error[in_test] = (drawn.teacher - drawn.problem.embedding.T @ theta)[in_train]
    errors = sign_matrix(test).T @ (inputs.amplitudes(test.active) * error)
    return float(np.mean(errors**2))


# The minimum-norm readout by one QR factorisation, where no singular value is near the rank tolerance.
#
# Under-parameterised (k <= r): Y^T = Q R, theta = R^-1 Q^T t. A QR costs a tenth of an SVD. It does not show
# the singular values, but 1/|R^-1|_F bounds the smallest from below and |R|_F the largest from above: if
# their ratio is above rtol nothing would be cut. If not, the SVD decides.


def min_norm_loss(solver: Solver, rtol: float, problem: LinearProblem) -> tuple[float, Solution | None]:
    """Mean over teacher and noise; the solution is None where the QR sufficed."""
    embedding, factor = problem.embedding, problem.factor
    rows = factor.T @ embedding.T  # Y^T (r, k)
    if rows.shape[1] > rows.shape[0]:
        return averaged_loss(solver, problem)
    factored, scale = lapack.dgeqrf(rows, lwork=64 * rows.shape[1])[:2]
    triangle = np.triu(factored[: rows.shape[1]])
    inverse, info = lapack.dtrtri(triangle)
    condition = float(np.linalg.norm(triangle) * np.linalg.norm(inverse)) if info == 0 else np.inf
    if not np.isfinite(condition) or condition * rtol >= 1.0:
        return averaged_loss(solver, problem)
    left = blas.dtrmm(1.0, inverse, embedding.T, side=1)
    span = lapack.dorgqr(factored, scale, lwork=64 * rows.shape[1], overwrite_a=1)[0]
    right = np.asarray(factor @ span)  # not F (F^T left), which would square the condition number
    readout = blas.dtrmm(1.0, inverse, right, side=1, trans_a=1)
    seen = _error(problem, left, right)
    return _with_the_rest(problem, seen, readout, left, float(np.sum(inverse**2))), None


def _error(problem: LinearProblem, left: FloatArray, right: FloatArray) -> float:
    """tr(Sigma error error^T) for error = I - left right^T, averaged over teachers.

    The square of a row is (1 - left_j.right_j)^2 and so on, which cancels where the readout gets a coordinate
    nearly right. Row by row that is avoided, at K^2 k; among many coordinates most are not got right by far:
    those beyond twice the rank go by |row|^2 = 1 - 2 left_j.right_j + left_j (right^T right) left_j^T.
    """
    head = 2 * left.shape[1]
    if head >= left.shape[0] or problem.covariance.ndim > 1 or problem.teacher_covariance is not None:
        head = left.shape[0]
    error = -(left[:head] @ right.T)
    error[np.diag_indices(head)] += 1.0
    if head == left.shape[0]:
        return weighted(problem.covariance, error, problem.teacher_covariance)
    far = left[head:]
    squares = 1.0 - 2.0 * np.einsum("ij,ij->i", far, right[head:]) + quadratic_rows(far, right.T @ right)
    return weighted(problem.covariance[:head], error, None) + float(problem.covariance[head:] @ squares)


# Closed forms of the minimum-norm loss: the embedding, or the data, averaged exactly.
#
# Over-parameterised, any data X of rank r, N > r + 1. Let P project on the column space of X. The part of u
# in that space is an N x r Gaussian Z, the rest is independent of the readout, and E (Z^T Z)^-1 = N / (N - r
# - 1). Hence
#
# E[loss | X] = t (1 + r/(N-r-1)) + q (tr(Sigma G^+) + t tr(G^+)/(N-r-1)),   t = tr(Sigma (I - P)), G = X X^T.
#
# Dense under-parameterised, N < D - 1, is its mirror: given u, y is a linear function of the N features plus
# an independent error of variance t + q, t the variance outside the span of u's rows, and
# E tr(A (Phi Phi^T)^-1) = N/(D-N-1):  E[loss | u] = t + (t + q) N/(D-N-1).


def over_parameterised(
    outside: float, rank: int, width: int, noise: float, inverse: tuple[float, float]
) -> float:
    """Mean over u and teacher given the data; with noise, ``inverse`` = (tr(Sigma G^+), tr(G^+))."""
    freedom = width - rank - 1
    loss = outside * (1.0 + rank / freedom)
    if noise > 0.0:
        loss += noise * (inverse[0] + outside * inverse[1] / freedom)
    return loss


def inverse_traces(factor: FloatArray, covariance: FloatArray) -> tuple[float, float]:
    """(tr(Sigma G^+), tr(G^+)) for G = F F^T with F (n, r) of full column rank; Sigma diagonal."""
    orthogonal, triangle = qr(factor, mode="economic", check_finite=False)
    inverse = solve_triangular(triangle, orthogonal.T, check_finite=False)
    columns = np.einsum("ij,ij->j", inverse, inverse)
    return float(columns @ covariance), float(columns.sum())


# Minimum norm for K/2 < N < K by way of what the embedding does not see: the smaller side of the problem.
#
# The error of the readout, I - u^T T, is the projection on G^-1 null(u) along the row space of u:
#
#   I - u^T T = G^-1 Z (Z^T G^-1 Z)^-1 Z^T,   Z (K, K - N) any basis of null(u).
#
# null(u) is a uniformly random subspace, so Z may be drawn as a Gaussian matrix and u need not be drawn at
# all. Given null(u), u on its row space is still isotropic, with E (u^T u)^-1 = N/(K-N-1) there, so that the
# norm of the readout is averaged over it: E |T|^2 / N = |I - error|_F^2 / (K-N-1), where
# |I - error|_F^2 = N - (K-N) + |error|_F^2 since the error is a projection of rank K - N.
#
# With P = F^-1 Z = H R (a QR factorisation, of which only R is needed) and Z^T Z = C C^T, the rows of the
# error have the norms of the rows of F^-T P (R^T R)^-1 C: no K x K product, and nothing cancels.


def dual_loss(factor: Triangle, null: FloatArray, variances: FloatArray, unseen: float) -> float:
    """Mean over teacher, unseen columns and u u^T, given F (K, K) upper triangular and Z (K, K - N)."""
    outside = int(null.shape[1])
    squares = row_norms(factor, null)
    kept = int(null.shape[0]) - 2 * outside + float(squares.sum())
    seen = float(variances @ squares)
    return seen + unseen * (1.0 + kept / float(outside - 1))


def row_norms(factor: Triangle, null: FloatArray) -> FloatArray:
    """|error_j|^2 for every active coordinate."""
    size = null.shape[1]
    P = solve(factor, null)
    triangle = lapack.dgeqrf(P, lwork=64 * size)[0][:size]
    root, _ = lapack.dpotrf(blas.dsyrk(1.0, null, trans=1, lower=1), lower=1, clean=1)
    middle, _ = lapack.dpotrs(triangle, root)
    rows = solve(factor, P @ middle, transposed=True)
    squares: FloatArray = np.einsum("ij,ij->i", rows, rows)
    return squares
