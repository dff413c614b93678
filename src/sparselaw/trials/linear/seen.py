"""The data of a task drawn by activations, as its trials see them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray
from sparselaw.data.gram import ScaledGram, scaled_gram
from sparselaw.data.sparse_samples import SparseData, draw_sparse
from sparselaw.inputs import ActivationInputs
from sparselaw.linalg.factor import Factor
from sparselaw.trials.linear.problem import LinearProblem, draw_embedding
from sparselaw.trials.task import Task, random_stream

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
    """Of samples without a single nonzero."""
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
