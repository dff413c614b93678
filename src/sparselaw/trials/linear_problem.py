"""Linear features phi = u x reduced to the few coordinates that matter.

The readout sees the data through G = F F^T alone, and every solver and norm is unchanged by a rotation of
theta. So a trial with n relevant coordinates needs only an n-column embedding U with U^T U of the right law,
in at most n rows, whatever the width N.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.factor import factorise
from sparselaw.data.gaussian_span import factor_vectors, wishart_root
from sparselaw.data.scaled_gram import ScaledGram, Triangle, scaled_gram
from sparselaw.data.sparse_samples import SparseData, distinct_patterns, draw_sparse
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.task import Task, random_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearProblem:
    """Targets t = F^T a + noise, features Y^T = F^T U^T, and the population loss of theta (eq:bayes-loss)

    floor + unseen (1 + |theta|^2 / N) + (a - U^T theta)^T Sigma (a - U^T theta).

    The second term averages over the columns of u (and the teacher) of coordinates that the data never
    show: they are independent of theta. Label noise of variance q acts on X^T w, so X eps ~ N(0, q G) = F
    eta: it adds eta ~ N(0, q I) to t.
    """

    factor: Triangle  # F (n, r), G = F F^T
    embedding: FloatArray  # U (k, n), k <= min(N, n)
    covariance: FloatArray  # Sigma, (n,) when diagonal, else (n, n)
    teacher_covariance: FloatArray | None = None  # of a, (n, n); None is the identity
    unseen: float = 0.0
    floor: float = 0.0
    noise: float
    width: int  # N
    samples: int  # D


def draw_embedding(width: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """``columns`` columns of u with entries N(0, 1/width), rotated into min(width, columns) rows.

    For width > columns only W = u^T u ~ Wishart matters; Bartlett's decomposition draws its triangular root,
    so a width of 1e12 costs no more than one just above the number of columns.
    """
    if width <= columns:
        return rng.standard_normal((width, columns)) / math.sqrt(width)
    return wishart_root(width, columns, rng).T / math.sqrt(width)


# The data of a task drawn by activations, as its trials see them.

NEGLIGIBLE = 1e-100  # amplitudes this far below the largest are lost in every sum: as if never seen


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenData:
    """Only the active coordinates A matter: G = X_A X_A^T, their variances, and the others' in sum."""

    drawn: SparseData
    visible: SparseData  # without coordinates whose amplitude is lost to rounding
    gram: ScaledGram
    variance: FloatArray  # (K,) of the visible coordinates
    unseen: float


def draw_seen(task: Task) -> SeenData:
    inputs = cast(ActivationInputs, task.inputs)
    drawn = draw_sparse(inputs, task.D, random_stream(task, "data"))
    data, gram = drawn, ScaledGram(length=np.empty(0), correlation=sparse.csr_array((0, 0)))
    if drawn.active.size:
        data = _visible(inputs, drawn)
        gram = scaled_gram(data, inputs.amplitudes(data.active))
    return SeenData(
        drawn=drawn,
        visible=data,
        gram=gram,
        variance=inputs.variances(data.active),
        unseen=inputs.unseen_variance(data.active),
    )


def problem_of(task: Task, factor: Triangle, covariance: FloatArray, unseen: float = 0.0) -> LinearProblem:
    """The linear problem of data G = F F^T and a drawn embedding.

    In the span of the data, too, the embedding is Gaussian; what the span leaves out is unseen.
    """
    return LinearProblem(
        factor=factor,
        embedding=draw_embedding(task.N, len(covariance), random_stream(task, "embedding")),
        covariance=covariance,
        unseen=unseen,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )


def problem_in_embedding(
    task: Task, factor: FloatArray, triangle: FloatArray, floor: float, inside: FloatArray | None = None
) -> LinearProblem:
    """In the span of the embedding's rows: the variance left out acts as label noise and as a floor."""
    return LinearProblem(
        factor=factor,
        embedding=triangle.T / np.sqrt(task.N),
        covariance=np.ones(task.N),
        teacher_covariance=inside,
        floor=floor,
        noise=floor + task.noise,
        width=task.N,
        samples=task.D,
    )


def _visible(inputs: ActivationInputs, data: SparseData) -> SparseData:
    """The data without coordinates whose amplitude is lost to rounding beside the largest."""
    size = inputs.amplitudes(data.active)
    kept = size > NEGLIGIBLE * size.max()
    if kept.all():
        return data
    entries = kept[data.column]
    label = np.cumsum(kept) - 1
    return dataclasses.replace(
        data,
        active=data.active[kept],
        sample=data.sample[entries],
        column=label[data.column[entries]].astype(data.column.dtype),
        sign=data.sign[entries],
    )


# One draw of a task with linear features: data, embedding and one teacher.
#
# Trials of solvers that cannot be averaged over teachers use it, and so do the dynamics of training.


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTeacher:
    """A linear problem and a teacher, in n coordinates; with the samples themselves where asked for."""

    problem: LinearProblem
    teacher: FloatArray  # a (n,)
    samples: FloatArray | sparse.csr_array | None = None  # (P, n) the distinct samples
    counts: IntArray | None = None  # (P,) how often each occurs; None: once
    whole_teacher: FloatArray | None = None  # w (M,), where a = Q^T w is its part in the span of the data
    span: FloatArray | None = None  # Q (M, n), likewise


def draw_one_teacher(task: Task, *, samples: bool) -> OneTeacher:
    """Data, embedding and teacher of ``task``; the solver it names is not used."""
    return _DRAWS[task.inputs.sampling](task, samples)


def one_teacher_of_seen(task: Task, samples: bool, seen: SeenData | None = None) -> OneTeacher:
    """As ``draw_one_teacher``, also for data that are drawn already."""
    seen = seen or draw_seen(task)
    problem = problem_of(task, factorise(seen.gram).values, seen.variance, seen.unseen)
    teacher = random_stream(task, "teacher").standard_normal(seen.variance.size)
    if not samples:
        return OneTeacher(problem=problem, teacher=teacher)
    patterns = distinct_patterns(cast(ActivationInputs, task.inputs), seen.visible)
    rows = patterns.matrix(seen.variance.size)
    return OneTeacher(problem=problem, teacher=teacher, samples=rows, counts=patterns.counts)


def _gaussian(task: Task, samples: bool) -> OneTeacher:
    """In the span of the smaller side, whose vectors are kept so that w's own left-out variance is known.

    Where the samples are not asked for, a root of their second moments takes their place.
    """
    N, D = task.N, task.D
    v = task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0))
    M, deviation = v.size, np.sqrt(v)
    w = random_stream(task, "teacher").standard_normal(M)
    data = random_stream(task, "data")
    if D <= min(N, M):
        Q, R = factor_vectors(v, data.standard_normal((M, D)))
        inside = (Q.T * v) @ Q
        problem = problem_of(task, R, inside, max(float(v.sum() - np.trace(inside)), 0.0))
        rows = R.T if samples else None
        return OneTeacher(problem=problem, teacher=Q.T @ w, samples=rows, whole_teacher=w, span=Q)
    size = min(N, M)
    factor = data.standard_normal((size, D)) if samples else wishart_root(D, size, data)
    if N > M:
        factor, teacher = deviation[:, None] * factor, w
        problem = problem_of(task, factor, v)
    else:
        Q, R = factor_vectors(v, random_stream(task, "embedding").standard_normal((M, N)))
        teacher = Q.T @ (deviation * w)
        left = deviation * w - Q @ teacher
        problem = problem_in_embedding(task, factor, R, float(left @ left))
    return OneTeacher(problem=problem, teacher=teacher, samples=factor.T if samples else None)


_DRAWS = {"activations": one_teacher_of_seen, "gaussian": _gaussian}
