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
from sparselaw.data.factor import Factor, factorise
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
    if not drawn.active.size:
        return _nothing(inputs, drawn)
    data = _visible(inputs, drawn)
    return SeenData(
        drawn=drawn,
        visible=data,
        gram=scaled_gram(data, inputs.amplitudes(data.active)),
        variance=inputs.variances(data.active),
        unseen=inputs.unseen_variance(data.active),
    )


def _nothing(inputs: ActivationInputs, drawn: SparseData) -> SeenData:
    """The seen data where no sample has a nonzero."""
    empty = np.empty(0)
    gram = ScaledGram(length=empty, correlation=sparse.csr_array((0, 0)))
    total = inputs.unseen_variance(drawn.active)
    return SeenData(drawn=drawn, visible=drawn, gram=gram, variance=empty, unseen=total)


def with_embedding(task: Task, factor: Factor, variance: FloatArray, unseen: float) -> LinearProblem:
    """The linear problem of data G = F F^T and a drawn embedding."""
    return LinearProblem(
        factor=factor.values,
        embedding=draw_embedding(task.N, variance.size, random_stream(task, "embedding")),
        covariance=variance,
        unseen=unseen,
        noise=task.noise,
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


def _activations(task: Task, samples: bool) -> OneTeacher:
    return one_teacher_of_seen(task, draw_seen(task), samples=samples)


def one_teacher_of_seen(task: Task, seen: SeenData, *, samples: bool) -> OneTeacher:
    """As ``draw_one_teacher``, for data that are drawn already."""
    problem = with_embedding(task, factorise(seen.gram), seen.variance, seen.unseen)
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
    data, embedding = random_stream(task, "data"), random_stream(task, "embedding")

    def draw_samples(size: int) -> FloatArray:
        return data.standard_normal((size, D)) if samples else wishart_root(D, size, data)

    if min(N, D) > M:
        factor = deviation[:, None] * draw_samples(M)
        problem = in_coordinates(task, v, factor)
        return OneTeacher(problem=problem, teacher=w, samples=factor.T if samples else None)
    if N < D:
        Q, R = factor_vectors(v, embedding.standard_normal((M, N)))
        teacher = Q.T @ (deviation * w)
        left = deviation * w - Q @ teacher
        factor = draw_samples(N)
        problem = LinearProblem(
            factor=factor,
            embedding=R.T / np.sqrt(N),
            covariance=np.ones(N),
            floor=float(left @ left),
            noise=float(left @ left) + task.noise,
            width=N,
            samples=D,
        )
        return OneTeacher(problem=problem, teacher=teacher, samples=factor.T if samples else None)
    Q, R = factor_vectors(v, data.standard_normal((M, D)))
    inside = (Q.T * v) @ Q
    problem = in_data_span(task, R, inside, max(float(v.sum() - np.trace(inside)), 0.0))
    return OneTeacher(
        problem=problem, teacher=Q.T @ w, samples=R.T if samples else None, whole_teacher=w, span=Q
    )


_DRAWS = {"activations": _activations, "gaussian": _gaussian}


def in_coordinates(task: Task, variances: FloatArray, factor: FloatArray) -> LinearProblem:
    """The problem in the coordinates themselves, where both N and D exceed their number."""
    return LinearProblem(
        factor=factor,
        embedding=draw_embedding(task.N, variances.size, random_stream(task, "embedding")),
        covariance=variances,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )


def in_data_span(task: Task, triangle: FloatArray, inside: FloatArray, outside: float) -> LinearProblem:
    """The embedding restricted to the span of the data is Gaussian; what it leaves out is unseen."""
    return LinearProblem(
        factor=triangle,
        embedding=draw_embedding(task.N, task.D, random_stream(task, "embedding")),
        covariance=inside,
        unseen=outside,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )
