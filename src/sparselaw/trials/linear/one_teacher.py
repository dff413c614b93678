"""One draw of a task with linear features: data, embedding and one teacher.

Trials of solvers that cannot be averaged over teachers use it, and so do the dynamics of training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.gaussian_span import factor_vectors
from sparselaw.data.patterns import distinct_patterns
from sparselaw.inputs import ActivationInputs
from sparselaw.linalg.factor import factorise
from sparselaw.linalg.wishart import wishart_root
from sparselaw.trials.linear.problem import LinearProblem, draw_embedding
from sparselaw.trials.linear.seen import SeenData, draw_seen, with_embedding
from sparselaw.trials.task import Task, random_stream


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
    """The same for data that are drawn already."""
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
    """Both N and D exceed the dimension: the coordinates themselves serve."""
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
