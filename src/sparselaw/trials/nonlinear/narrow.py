"""Dense trials of nonlinear features in the space of u x, with test set and teacher averaged exactly.

Write x = S^(1/2) xi with S the diagonal of variances, and S^(1/2) u^T = Q R (M x m times m x N with
m = min(M, N)). Then u x = R^T g with g = Q^T xi standard normal in R^m, and a teacher w gives
  y = w . x = h . g + residual,   h = Q^T S^(1/2) w,   residual variance |S^(1/2) w|^2 - |h|^2,
the residual independent of g. So samples are drawn in R^m, not R^M. Over w, E h h^T = Q^T S Q and the mean
residual variance is tr S - tr Q^T S Q: where the solver filters the targets linearly, the loss is averaged
over teacher, residuals and label noise in closed form. Over the test set it is, but for the raw estimator,
where the features have their Gaussian moments in closed form; where not, see ``_measured``.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from sparselaw.arrays import FloatArray
from sparselaw.solvers import Solution
from sparselaw.solvers.equations import Basis, NormalEquations, from_gram, from_rows
from sparselaw.trials.nonlinear import moments
from sparselaw.trials.outcome import as_record, finite_loss
from sparselaw.trials.task import Record, Task, random_stream

SAMPLE_BLOCK = 2048
TEST_WORK = 1 << 28  # multiplications for u x over the test inputs
FEWEST, MOST = 2_000, 50_000  # test inputs


def trial(task: Task, spectrum: FloatArray) -> Record:
    span, factor = latent_space(task, spectrum)
    if task.estimator == "exact" and task.solver.linear:
        return _teacher_averaged(task, spectrum, span, factor)
    return _one_teacher(task, spectrum, span, factor)


def latent_space(task: Task, spectrum: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (M, m) and R^T (N, m), so that u x = R^T g."""
    weights = random_stream(task, "embedding").standard_normal((task.N, len(spectrum)))
    weights *= np.sqrt(spectrum / task.N)
    if len(spectrum) <= task.N:
        return np.eye(len(spectrum)), weights
    span, triangle = np.linalg.qr(weights.T)
    return span, np.ascontiguousarray(triangle.T)


def _teacher_averaged(task: Task, spectrum: FloatArray, span: FloatArray, factor: FloatArray) -> Record:
    residual = float(spectrum @ np.clip(1.0 - np.einsum("jm,jm->j", span, span), 0.0, None))
    values, vectors = scipy.linalg.eigh((span * spectrum[:, None]).T @ span)
    signal = vectors * np.sqrt(np.clip(values, 0.0, None))  # columns whose outer products sum to E h h^T
    hessian, cross = _moments(task, factor)
    equations, basis = from_gram(hessian, cross @ signal, task.D)
    # white noise of unit variance in the targets gives b = Phi y / D the covariance H / D
    white = NormalEquations(
        eigenvalues=equations.eigenvalues,
        projections=np.diag(np.sqrt(equations.eigenvalues / task.D)),
        samples=task.D,
    )
    solution = task.solver.solve(equations)

    def loss() -> float:
        noise = np.sqrt(residual + task.noise) * task.solver.solve(white).coefficients
        theta = basis @ np.hstack([solution.coefficients, noise])
        return _population_loss(task, factor, signal, theta, float(spectrum.sum()), residual)

    return as_record(
        finite_loss(solution, loss), solution, ("teacher", *_averaged(task)), rank=len(equations.eigenvalues)
    )


def _moments(task: Task, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """H = Phi Phi^T / D and Phi g^T / D over D fresh samples, a block at a time."""
    rng = random_stream(task, "data")
    N, m = factor.shape
    hessian, cross = np.zeros((N, N)), np.zeros((N, m))
    for begin in range(0, task.D, SAMPLE_BLOCK):
        latent = rng.standard_normal((min(SAMPLE_BLOCK, task.D - begin), m))
        features = task.layer.apply(_hidden(task, latent, factor))
        hessian += features.T @ features
        cross += features.T @ latent
    return hessian / task.D, cross / task.D


def _hidden(task: Task, latent: FloatArray, factor: FloatArray) -> FloatArray:
    """u x = R^T g, a row a sample; R^T of the QR is a triangle, which halves the products."""
    if task.inputs.dimension <= task.N:
        return latent @ factor.T
    product: FloatArray = scipy.linalg.blas.dtrmm(1.0, factor.T, latent.T, trans_a=1).T
    return product


def _one_teacher(task: Task, spectrum: FloatArray, span: FloatArray, factor: FloatArray) -> Record:
    teacher = random_stream(task, "teacher")
    scaled = np.sqrt(spectrum) * teacher.standard_normal(len(spectrum))
    signal = span.T @ scaled
    residual = max(float(scaled @ scaled - signal @ signal), 0.0)
    latent = random_stream(task, "data").standard_normal((task.D, factor.shape[1]))
    features = np.asarray(task.layer.apply(latent @ factor.T), dtype=np.float64)
    targets = latent @ signal + np.sqrt(residual + task.noise) * teacher.standard_normal(task.D)
    solution, basis, rank = _fit(task, features, targets[:, None])

    def loss() -> float:
        theta = basis @ solution.coefficients
        if task.estimator == "exact":
            return _population_loss(task, factor, signal[:, None], theta, float(scaled @ scaled), residual)
        return _test_error(task, factor, signal, residual, theta[:, 0])

    return as_record(finite_loss(solution, loss), solution, _averaged(task), rank)


def _fit(task: Task, features: FloatArray, targets: FloatArray) -> tuple[Solution, Basis, int | None]:
    if task.solver.by_samples:
        return (
            task.solver.solve_samples(features, targets, random_stream(task, "order")),
            np.eye(task.N),
            None,
        )
    basis: Basis
    if task.D > task.N:
        equations, basis = from_gram(features.T @ features / task.D, features.T @ targets / task.D, task.D)
    else:
        equations, basis = from_rows(features, targets)
    return task.solver.solve(equations), basis, len(equations.eigenvalues)


def _test_error(
    task: Task, factor: FloatArray, signal: FloatArray, residual: float, theta: FloatArray
) -> float:
    """The mean square error on n_test fresh samples, labels without noise."""
    rng = random_stream(task, "test")
    total = 0.0
    for begin in range(0, task.n_test, SAMPLE_BLOCK):
        latent = rng.standard_normal((min(SAMPLE_BLOCK, task.n_test - begin), factor.shape[1]))
        targets = latent @ signal + np.sqrt(residual) * rng.standard_normal(len(latent))
        errors = targets - task.layer.apply(latent @ factor.T) @ theta
        total += float(errors @ errors)
    return total / task.n_test


def _averaged(task: Task) -> tuple[str, ...]:
    return ("test",) if task.estimator == "exact" and moments.known(task.layer) else ()


def _population_loss(
    task: Task, factor: FloatArray, signal: FloatArray, theta: FloatArray, square: float, residual: float
) -> float:
    """The loss summed over columns; ``square`` is sum E y^2, ``residual`` what of it is independent of g."""
    if moments.known(task.layer):
        return moments.population_loss(task.layer, factor, signal, theta, square)
    return residual + _measured(task, factor, signal, theta)


def _measured(task: Task, factor: FloatArray, signal: FloatArray, theta: FloatArray) -> float:
    """E_g sum_t (h_t . g - theta_t . f(R^T g))^2 on fresh test inputs; what f has of c z in closed form."""
    features, slope, rng = task.layer, task.layer.odd_slope, random_stream(task, "test")
    signal = np.pad(signal, ((0, 0), (0, theta.shape[1] - signal.shape[1])))
    samples = int(np.clip(TEST_WORK / factor.size, FEWEST, MOST))
    total = 0.0
    for begin in range(0, samples, SAMPLE_BLOCK):
        latent = rng.standard_normal((min(SAMPLE_BLOCK, samples - begin), factor.shape[1]))
        hidden = latent @ factor.T
        if slope is None:
            errors = latent @ signal - features.apply(hidden) @ theta
        else:
            errors = features.even_part(hidden) @ theta
        total += float(np.sum(errors**2))
    if slope is None:
        return total / samples
    return total / samples + float(np.sum((signal - slope * (factor.T @ theta)) ** 2))
