"""Nonlinear features of dense Gaussian inputs: one trial."""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.linalg

from sparselaw.arrays import FloatArray
from sparselaw.features import Layer
from sparselaw.features.base import AnyFloats
from sparselaw.solvers import Solution
from sparselaw.solvers.base import NormalEquations
from sparselaw.solvers.equations import EPSILON, Basis, from_gram, from_rows
from sparselaw.trials.task import Record, Task, as_record, random_stream

NARROW = 768  # above it, and for D < N, a few hundred test points cost less than the N x N moments


def trial(task: Task) -> Record:
    """The narrow layer has its test set averaged exactly; the wide one spares the N x M matrix instead."""
    spectrum = task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0))
    if task.estimator == "exact" and task.N > NARROW and min(task.N, len(spectrum)) > task.D:
        return wide_trial(task, spectrum)
    return narrow_trial(task, spectrum)


# Dense trials of nonlinear features in the space of u x, with test set and teacher averaged exactly.
#
# Write x = S^(1/2) xi with S the diagonal of variances, and S^(1/2) u^T = Q R (M x m times m x N with
# m = min(M, N)). Then u x = R^T g with g = Q^T xi standard normal in R^m, and a teacher w gives
#   y = w . x = h . g + residual,   h = Q^T S^(1/2) w,   residual variance |S^(1/2) w|^2 - |h|^2,
# the residual independent of g. So samples are drawn in R^m, not R^M. Over w, E h h^T = Q^T S Q and the mean
# residual variance is tr S - tr Q^T S Q: where the solver filters the targets linearly, the loss is averaged
# over teacher, residuals and label noise in closed form. Over the test set it is, but for the raw estimator,
# where the features have their Gaussian moments in closed form; where not, see ``_measured``.

SAMPLE_BLOCK = 2048
TEST_WORK = 1 << 28  # multiplications for u x over the test inputs
FEWEST_TESTS, MOST_TESTS = 2_000, 50_000  # test inputs


def narrow_trial(task: Task, spectrum: FloatArray) -> Record:
    averaged = task.estimator == "exact" and task.solver.linear
    trial = _teacher_averaged if averaged else _one_teacher
    return trial(task, spectrum, *latent_space(task, spectrum))


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
        return _loss(task, factor, signal, theta, float(spectrum.sum()), residual)

    return as_record(solution, loss, ("teacher", *_averaged(task)), rank=len(equations.eigenvalues))


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
            return _loss(task, factor, signal[:, None], theta, float(scaled @ scaled), residual)
        return _test_error(task, factor, signal, residual, theta[:, 0])

    return as_record(solution, loss, _averaged(task), rank)


def _fit(task: Task, features: FloatArray, targets: FloatArray) -> tuple[Solution, Basis, int | None]:
    if task.solver.by_samples:
        solution = task.solver.solve_samples(features, targets, random_stream(task, "order"))
        return solution, np.eye(task.N), None
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
    return ("test",) if task.estimator == "exact" and has_gaussian_moments(task.layer) else ()


def _loss(
    task: Task, factor: FloatArray, signal: FloatArray, theta: FloatArray, square: float, residual: float
) -> float:
    """The loss summed over columns; ``square`` is sum E y^2, ``residual`` what of it is independent of g.

    Where there is no closed form of E_g sum_t (h_t . g - theta_t . f(R^T g))^2 it is measured on fresh test
    inputs, but for what f has of c z.
    """
    features, slope = task.layer, task.layer.odd_slope
    if has_gaussian_moments(features):
        return population_loss(features, factor, signal, theta, square)
    rng = random_stream(task, "test")
    signal = np.pad(signal, ((0, 0), (0, theta.shape[1] - signal.shape[1])))
    samples = int(np.clip(TEST_WORK / factor.size, FEWEST_TESTS, MOST_TESTS))
    total = 0.0
    for begin in range(0, samples, SAMPLE_BLOCK):
        latent = rng.standard_normal((min(SAMPLE_BLOCK, samples - begin), factor.shape[1]))
        hidden = latent @ factor.T
        if slope is None:
            errors = latent @ signal - features.apply(hidden) @ theta
        else:
            errors = features.even_part(hidden) @ theta
        total += float(np.sum(errors**2))
    measured = total / samples
    if slope is not None:
        measured = measured + float(np.sum((signal - slope * (factor.T @ theta)) ** 2))
    return residual + measured


# Population loss of a readout of nonlinear features under Gaussian inputs, without a test set.
#
# With features f(L g), g standard normal in R^m and target y = h . g + (independent part), the loss of a
# readout theta is E y^2 - 2 theta . E[phi y] + theta^T R theta with E[phi_i y] = E[f'] (L h)_i (Stein) and
# R = E[phi phi^T]. For the ReLU E[f'] = 1/2 and R is the arc-cosine kernel of L L^T. R is never stored: it is
# formed a block of rows at a time, so that N = 16,000 needs a block and the factor L, not N x N matrices.

BLOCK = 512  # rows of R at a time


def has_gaussian_moments(layer: Layer) -> bool:
    """Whether the features have their Gaussian moments in closed form."""
    one = np.ones(1)
    moments = layer.gaussian_moments(one[:, None], one, one)
    return moments is not None and layer.gaussian_slopes(one) is not None


def predicted_square(layer: Layer, factor: FloatArray, theta: FloatArray, block: int = BLOCK) -> float:
    """sum over columns of theta^T R theta, R the second moments of f(factor @ g)."""
    deviations = np.sqrt(np.einsum("ij,ij->i", factor, factor))
    total = 0.0
    for begin in range(0, len(factor), block):
        rows = slice(begin, begin + block)
        covariance = factor[rows] @ factor[begin:].T
        moments = layer.gaussian_moments(covariance, deviations[rows], deviations[begin:])
        assert moments is not None
        share = np.einsum("it,it->", theta[rows], moments @ theta[begin:])
        own = moments[:, : len(theta[rows])]
        # R is symmetric: blocks right of the diagonal count twice
        total += float(2.0 * share - np.einsum("it,ij,jt->", theta[rows], own, theta[rows], optimize=True))
    return total


def population_loss(
    layer: Layer,
    factor: FloatArray,
    signal: FloatArray,
    theta: FloatArray,
    target_square: float,
    block: int = BLOCK,
) -> float:
    """The loss summed over columns: targets h_t . g (``signal`` (m, T)), readouts theta (N, T).

    ``target_square`` is sum E y^2. Columns of theta beyond those of ``signal`` answer to no target: they are
    the part of the readout driven by noise, which adds theta^T R theta alone.
    """
    slopes = layer.gaussian_slopes(np.sqrt(np.einsum("ij,ij->i", factor, factor)))
    assert slopes is not None
    answered = theta[:, : signal.shape[1]]
    along = factor @ signal
    along *= slopes[:, None]
    overlap = float(np.einsum("it,it->", answered, along))
    return target_square - 2.0 * overlap + predicted_square(layer, factor, theta, block)


# Dense trials of a wide nonlinear layer, N > D, without the N x M matrix u and without N x N moments.
#
# Write X = Q R (M x D, Q orthonormal). The rows of u are independent and isotropic, so E = u Q is N x D with
# entries N(0, 1/N) whatever X is, u X = E R, and u off the span of Q is independent of everything trained. A
# test input x = Q b + x' gives u x = E b + |x'| g, g ~ N(0, I/N): the unseen part of u is drawn afresh for
# each test input, which averages over it.
#
# By the symmetry x -> -x the loss is an odd part plus an even part. Where the odd part of f is c z, for a
# teacher w = Q a + w' and a readout theta,
#   odd  = (a - e)^T (Q^T S Q) (a - e) + tr(S (I - Q Q^T)) (1 + c^2 |theta|^2 / N),   e = c E^T theta,
# with w' and the unseen part of u averaged exactly and no test input at all; and even, which is
# E_x (theta . (f(u x) - c u x))^2, estimated on test inputs. For any other f the whole loss is, but for what
# w' adds. A linear solver is given many teachers at once; they cost next to nothing.
#
# Where the features allow it, the N x D products run in single precision, which perturbs the features by 1e-7
# of themselves and moved the loss by 8e-6 of itself at N = 16,000, D = 640, far below its scatter of 3 %; the
# D x D Gram, whose small eigenvalues matter, always in double.

TEACHERS = 128  # up to as many samples the teacher is averaged exactly, beyond that many are drawn
TEST_INPUTS = 256
WHOLE_BLOCKS = 8  # as many times that where the whole error is measured on them: it has a longer tail
NEGLIGIBLE = 1e-13  # of the sum of squared variances: what the coordinates left out of X^T S X may hold


def wide_trial(task: Task, spectrum: FloatArray) -> Record:
    N, D = task.N, task.D
    data = random_stream(task, "data")
    inputs = data.standard_normal((len(spectrum), D)) * np.sqrt(spectrum)[:, None]
    triangle, span = _factor(inputs)
    weighted = _weighted(inputs, spectrum, triangle, span)  # Q^T S Q
    unseen = max(float(spectrum.sum() - np.trace(weighted)), 0.0)

    f = task.layer
    dtype = np.float32 if f.single_precision else np.float64
    embedding: AnyFloats = random_stream(task, "embedding").standard_normal((N, D), dtype=dtype)
    embedding *= dtype(1.0 / np.sqrt(N))
    (multiply,) = scipy.linalg.get_blas_funcs(("trmm",), (embedding,))  # by a triangle: half of the cost
    hidden = multiply(1.0, triangle.astype(dtype).T, embedding.T, side=0, lower=1).T  # u X = E R
    features: AnyFloats = np.asarray(f.apply(hidden), dtype=dtype)
    gram = np.zeros((D, D))
    for begin in range(0, N, SAMPLE_BLOCK):
        rows = features[begin : begin + SAMPLE_BLOCK].astype(np.float64)
        gram += rows.T @ rows

    signal, averaged = _teachers(task)
    noise = np.zeros_like(signal)  # on the last column, which is the only one for a single teacher
    noise[:, -1] = np.sqrt(task.noise) * random_stream(task, "noise").standard_normal(D)
    targets = triangle.T @ signal + noise

    solution, rank = _by_cholesky(task, gram, targets) or _by_eigenvalues(task, gram, targets)

    def loss() -> float:
        theta = features @ solution.coefficients.astype(dtype)
        tests, slope = random_stream(task, "test"), f.odd_slope
        blocks = 1 if slope is not None else WHOLE_BLOCKS
        total = 0.0
        for _ in range(blocks):
            drawn = tests.standard_normal((len(spectrum), TEST_INPUTS)) * np.sqrt(spectrum)[:, None]
            along = span.T @ drawn if span is not None else _forward(triangle, inputs.T @ drawn)  # b = Q^T x
            across = np.clip((drawn**2).sum(axis=0) - (along**2).sum(axis=0), 0.0, None)  # |x'|^2
            hidden = tests.standard_normal((N, TEST_INPUTS), dtype=dtype)
            hidden *= np.sqrt(across / N).astype(dtype)
            hidden += embedding @ along.astype(dtype)  # u x
            if slope is None:
                errors = signal.T @ along - np.asarray(theta.T @ f.apply(hidden), dtype=np.float64)
            else:
                errors = np.asarray(theta.T @ f.even_part(hidden), dtype=np.float64)
            total += float(np.sum(errors**2))
        measured = total / (blocks * TEST_INPUTS)
        if slope is None:
            return unseen + measured
        missed = signal - (embedding.T @ theta).astype(np.float64) * slope
        norms = np.einsum("it,it->t", theta, theta, dtype=np.float64)
        odd = np.einsum("it,it->", missed, weighted @ missed) + unseen * (1.0 + slope**2 * norms.sum() / N)
        return float(odd) + measured

    return as_record(solution, loss, averaged, rank)


# Readouts as combinations of the samples' features, theta = Phi weights: the weights (D, T), and the rank.


def _by_cholesky(task: Task, gram: FloatArray, targets: FloatArray) -> tuple[Solution, int] | None:
    """Minimum norm, theta = Phi K^-1 y, at a tenth of the cost of the eigenvalues of K = Phi^T Phi.

    None for other solvers, and where a singular value might be cut: with K = L L^T the smallest eigenvalue is
    at least 1/|L^-1|_F^2, the largest at most tr K.
    """
    rtol = task.solver.rank_tolerance
    if rtol is None:
        return None
    try:
        root = scipy.linalg.cholesky(gram, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    inverse, info = scipy.linalg.lapack.dtrtri(root, lower=1)
    condition = float(np.einsum("ij,ij->", inverse, inverse)) * float(np.trace(gram))
    if info != 0 or not condition * max(rtol**2, EPSILON * task.D) < 1.0:
        return None
    weights = scipy.linalg.cho_solve((root, True), targets, check_finite=False)
    return Solution(coefficients=weights), task.D


def _by_eigenvalues(task: Task, gram: FloatArray, targets: FloatArray) -> tuple[Solution, int]:
    """The dual basis: K = Phi^T Phi = U L U^T, V = Phi U L^(-1/2), so V^T Phi y / D = L^(1/2) U^T y / D."""
    D = task.D
    dual, left = from_gram(gram / D, targets, D)
    root = np.sqrt(dual.eigenvalues)[:, None]
    if task.solver.by_samples:
        rows = left * (root.T * np.sqrt(D))
        solution = task.solver.solve_samples(rows, targets, random_stream(task, "order"))
    else:
        projections = root * dual.projections / np.sqrt(D)
        equations = NormalEquations(eigenvalues=dual.eigenvalues, projections=projections, samples=D)
        solution = task.solver.solve(equations)
    with np.errstate(over="ignore", invalid="ignore"):  # of a descent that diverged
        weights = np.asarray(left @ (solution.coefficients / (root * np.sqrt(D))))
    return dataclasses.replace(solution, coefficients=weights), len(dual.eigenvalues)


def _teachers(task: Task) -> tuple[FloatArray, tuple[str, ...]]:
    """Columns a = Q^T w (D, T) whose squared errors sum to the mean over teachers, and what is averaged.

    The last column is no teacher: the readout it gets is driven by label noise alone.
    """
    D, rng = task.D, random_stream(task, "teacher")
    if not task.solver.linear:
        return rng.standard_normal((D, 1)), ("unseen",)
    exact = D <= TEACHERS
    signal = np.eye(D) if exact else rng.standard_normal((D, TEACHERS)) / np.sqrt(TEACHERS)
    return np.column_stack([signal, np.zeros(D)]), ("teacher", "unseen") if exact else ("unseen",)


def _factor(inputs: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """R of X = Q R by Cholesky of X^T X; where that is singular to rounding, by QR, with Q itself."""
    try:
        triangle: FloatArray = scipy.linalg.cholesky(inputs.T @ inputs)
    except scipy.linalg.LinAlgError:
        span, triangle = np.linalg.qr(inputs)
        return triangle, span
    return triangle, None


def _weighted(
    inputs: FloatArray, spectrum: FloatArray, triangle: FloatArray, span: FloatArray | None
) -> FloatArray:
    """Q^T S Q; by way of X^T S X from the leading coordinates, the rest being a negligible share of it."""
    if span is not None:
        return np.asarray((span * spectrum[:, None]).T @ span)
    beyond = np.cumsum(spectrum[::-1] ** 2)[::-1]
    head = int(np.searchsorted(-beyond, -NEGLIGIBLE * beyond[0]))
    scaled = inputs[:head] * np.sqrt(spectrum[:head])[:, None]
    return _forward(triangle, _forward(triangle, scaled.T @ scaled).T)


def _forward(triangle: FloatArray, matrix: FloatArray) -> FloatArray:
    """R^-T matrix."""
    solved: FloatArray = scipy.linalg.solve_triangular(triangle, matrix, trans="T")
    return solved
