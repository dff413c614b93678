"""Dense trials of a wide nonlinear layer, N > D, without the N x M matrix u and without N x N moments.

Write X = Q R (M x D, Q orthonormal). The rows of u are independent and isotropic, so E = u Q is N x D with
entries N(0, 1/N) whatever X is, u X = E R, and u off the span of Q is independent of everything trained. A
test input x = Q b + x' gives u x = E b + |x'| g, g ~ N(0, I/N): the unseen part of u is drawn afresh for each
test input, which averages over it.

By the symmetry x -> -x the loss is an odd part plus an even part. Where the odd part of f is c z, for a
teacher w = Q a + w' and a readout theta,
  odd  = (a - e)^T (Q^T S Q) (a - e) + tr(S (I - Q Q^T)) (1 + c^2 |theta|^2 / N),   e = c E^T theta,
with w' and the unseen part of u averaged exactly and no test input at all; and even, which is
E_x (theta . (f(u x) - c u x))^2, estimated on test inputs. For any other f the whole loss is, but for what w'
adds. A linear solver is given many teachers at once; they cost next to nothing.

Where the features allow it, the N x D products run in single precision, which perturbs the features by 1e-7
of themselves and moved the loss by 8e-6 of itself at N = 16,000, D = 640, far below its scatter of 3 %; the
D x D Gram, whose small eigenvalues matter, always in double.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.linalg

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats
from sparselaw.solvers import Solution
from sparselaw.solvers.base import NormalEquations
from sparselaw.solvers.equations import EPSILON, from_gram
from sparselaw.trials.task import Record, Task, as_record, random_stream

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
    features: AnyFloats = np.asarray(f.apply(_times(embedding, triangle.astype(dtype))), dtype=dtype)
    gram = _double_gram(features)

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
            hidden = _hidden(drawn, along, embedding, tests)
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


def _hidden(
    drawn: FloatArray, along: FloatArray, embedding: AnyFloats, rng: np.random.Generator
) -> AnyFloats:
    """u x for the test inputs x = Q b + x', (N, inputs)."""
    across = np.clip((drawn**2).sum(axis=0) - (along**2).sum(axis=0), 0.0, None)  # |x'|^2
    dtype = embedding.dtype
    hidden: AnyFloats = rng.standard_normal((len(embedding), TEST_INPUTS), dtype=dtype)
    hidden *= np.sqrt(across / len(embedding)).astype(dtype)
    hidden += embedding @ along.astype(dtype)
    return hidden


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


def _times(matrix: AnyFloats, triangle: AnyFloats) -> AnyFloats:
    """The matrix times an upper triangle, at half of the cost of any other matrix; as R^T (matrix^T)."""
    (product,) = scipy.linalg.get_blas_funcs(("trmm",), (matrix,))
    found: AnyFloats = product(1.0, triangle.T, matrix.T, side=0, lower=1).T
    return found


def _double_gram(features: AnyFloats, block: int = 2048) -> FloatArray:
    """Phi^T Phi in double precision, a block of features at a time."""
    gram = np.zeros((features.shape[1], features.shape[1]))
    for begin in range(0, len(features), block):
        rows = features[begin : begin + block].astype(np.float64)
        gram += rows.T @ rows
    return gram
