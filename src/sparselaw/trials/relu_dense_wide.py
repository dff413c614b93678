"""Dense ReLU trials of a wide layer, N > D, without the N x M matrix u and without N x N moments.

Write X = Q R (M x D, Q orthonormal). The rows of u are independent and isotropic, so E = u Q is N x D with
entries N(0, 1/N) whatever X is, u X = E R, and u off the span of Q is independent of everything trained. A
test input x = Q b + x' gives u x = E b + |x'| g, g ~ N(0, I/N): the unseen part of u is drawn afresh for each
test input, which averages over it.

By the symmetry x -> -x the loss is an odd part plus an even part, relu(z) = z/2 + |z|/2. For a teacher
w = Q a + w' and a readout theta:
  odd  = (a - e)^T (Q^T S Q) (a - e) + tr(S (I - Q Q^T)) (1 + |theta|^2 / 4N),   e = E^T theta / 2,
with w' and the unseen part of u averaged exactly and no test input at all; and even, which is
E_x (theta . |u x|)^2 / 4, estimated on test inputs. A linear solver is given many teachers at once; they cost
next to nothing.

The N x D products run in single precision, which perturbs the features by 1e-7 of themselves and the loss by
the square of that, far below any loss in reach; the D x D Gram, whose small eigenvalues matter, in double.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.solvers.equations import NormalEquations, from_gram
from sparselaw.trials.outcome import record
from sparselaw.trials.task import Record, Task, random_stream

TEACHERS = 128  # up to as many samples the teacher is averaged exactly, beyond that many are drawn
TEST_INPUTS = 256
NEGLIGIBLE = 1e-13  # of the sum of squared variances: what the coordinates left out of X^T S X may hold
Single = NDArray[np.float32]


def trial(task: Task, spectrum: FloatArray) -> Record:
    N, D = task.N, task.D
    data = random_stream(task, "data")
    inputs = data.standard_normal((len(spectrum), D)) * np.sqrt(spectrum)[:, None]
    triangle, span = _factor(inputs)
    weighted = _weighted(inputs, spectrum, triangle, span)  # Q^T S Q
    unseen = max(float(spectrum.sum() - np.trace(weighted)), 0.0)

    embedding = random_stream(task, "embedding").standard_normal((N, D), dtype=np.float32)
    embedding *= np.float32(1.0 / np.sqrt(N))
    features = np.maximum(embedding @ triangle.astype(np.float32), np.float32(0.0))
    gram = _double_gram(features)

    signal, averaged = _teachers(task)
    targets = triangle.T @ signal + _label_noise(task, signal)

    # The dual basis: K = Phi^T Phi = U L U^T, V = Phi U L^(-1/2), so V^T Phi y / D = L^(1/2) U^T y / D.
    dual, left = from_gram(gram / D, targets, D)
    root = np.sqrt(dual.eigenvalues)[:, None]
    equations = NormalEquations(
        eigenvalues=dual.eigenvalues, projections=root * dual.projections / np.sqrt(D), samples=D
    )
    if task.solver.by_samples:
        rows = left * (root.T * np.sqrt(D))
        solution = task.solver.solve_samples(rows, targets, random_stream(task, "order"))
    else:
        solution = task.solver.solve(equations)

    def loss() -> float:
        theta = features @ (left @ (solution.coefficients / (root * np.sqrt(D)))).astype(np.float32)
        missed = signal - (embedding.T @ theta).astype(np.float64) / 2.0
        norms = np.einsum("it,it->t", theta, theta, dtype=np.float64)
        odd = np.einsum("it,it->", missed, weighted @ missed) + unseen * (1.0 + norms.sum() / (4.0 * N))
        tests = random_stream(task, "test")
        drawn = tests.standard_normal((len(spectrum), TEST_INPUTS)) * np.sqrt(spectrum)[:, None]
        along = span.T @ drawn if span is not None else _forward(triangle, inputs.T @ drawn)  # b = Q^T x
        return float(odd) + _even_part(drawn, along, embedding, theta, tests)

    return record(solution, loss, averaged, rank=len(equations.eigenvalues))


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


def _label_noise(task: Task, signal: FloatArray) -> FloatArray:
    """Noise on the last column of the targets, which is the only one for a single teacher."""
    noise = np.zeros_like(signal)
    noise[:, -1] = np.sqrt(task.noise) * random_stream(task, "noise").standard_normal(len(signal))
    return noise


def _even_part(
    drawn: FloatArray, along: FloatArray, embedding: Single, theta: Single, rng: np.random.Generator
) -> float:
    """The mean over test inputs of sum_t (theta_t . |u x|)^2 / 4."""
    across = np.clip((drawn**2).sum(axis=0) - (along**2).sum(axis=0), 0.0, None)  # |x'|^2
    hidden = rng.standard_normal((len(theta), TEST_INPUTS), dtype=np.float32)
    hidden *= np.sqrt(across / len(theta)).astype(np.float32)
    hidden += embedding @ along.astype(np.float32)
    np.abs(hidden, out=hidden)
    answers = (theta.T @ hidden).astype(np.float64)
    return float(np.sum(answers**2)) / (4.0 * TEST_INPUTS)


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


def _double_gram(features: Single, block: int = 2048) -> FloatArray:
    """Phi^T Phi in double precision, a block of features at a time."""
    gram = np.zeros((features.shape[1], features.shape[1]))
    for begin in range(0, len(features), block):
        rows = features[begin : begin + block].astype(np.float64)
        gram += rows.T @ rows
    return gram
