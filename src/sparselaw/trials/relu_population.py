"""The population error of a ReLU readout on sparse inputs.

By the symmetry x -> -x the error is an odd part plus an even part, relu(z) = z/2 + |z|/2. The odd part is
that of the linear readout theta / 2, so that its mean over x is a sum over coordinates:
  odd = sum_{j in A} s_j |w_j - (u_j . theta)/2|^2 + (1 + |theta|^2 / 4N) * sum_{j not in A} s_j,
A the coordinates seen in training; u_j and w_j of the others are averaged over. Only the even part,
E_x (theta . |u x|)^2 / 4, needs test inputs. They are reduced to distinct patterns up to sign; the columns of
u of coordinates that training never touched are independent of the readout and drawn with the test set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.patterns import Patterns, distinct_patterns
from sparselaw.data.sparse import SparseData, draw_sparse
from sparselaw.features.relu import preactivations
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.task import Task, random_stream

TEST_WORK = 1 << 26  # multiplications for u x over the test samples, before equal ones are merged
FEWEST, MOST = 2_000, 50_000  # test samples; with the fewest the error is a few per cent of the even part
BLOCK = 1 << 22  # features held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """T trained readouts and the teachers they answer to (zero columns: readouts driven by noise alone)."""

    active: FloatArray  # (K,) coordinates seen in training
    embedding: FloatArray  # (K, N) their columns of u, as rows
    theta: FloatArray  # (N, T)
    teachers: FloatArray  # (K, T)


def population_error(task: Task, inputs: ActivationInputs, readout: Readout) -> float:
    """E_x sum_t (w_t . x - theta_t . phi(x))^2 with unseen coordinates of u and w averaged over."""
    unseen = inputs.unseen_variance(readout.active)
    linear = readout.embedding @ readout.theta / 2.0
    missed = np.einsum("kt,kt->k", readout.teachers - linear, readout.teachers - linear)
    spread = float(np.einsum("it,it->", readout.theta, readout.theta)) / (4.0 * task.N)
    odd = float(inputs.variances(readout.active) @ missed) + unseen * (1.0 + spread)
    return odd + _even_part(task, inputs, readout)


def _even_part(task: Task, inputs: ActivationInputs, readout: Readout) -> float:
    """The mean over a fresh test set of sum_t (theta_t . |u x|)^2 / 4."""
    rng = random_stream(task, "test")
    samples = int(np.clip(TEST_WORK / (task.N * inputs.expected_nonzeros()), FEWEST, MOST))
    data = _towards_positive(draw_sparse(inputs, samples, rng))
    patterns = distinct_patterns(inputs, data)
    embedding, _ = _extend(readout, data.active, rng, unseen_teachers=False)
    total = 0.0
    for rows, hidden in _hidden(patterns, embedding):
        answers = np.abs(hidden, out=hidden) @ readout.theta
        total += float(patterns.counts[rows] @ np.einsum("pt,pt->p", answers, answers))
    return total / (4.0 * samples)


def raw_test_error(task: Task, inputs: ActivationInputs, readout: Readout) -> float:
    """The paper's estimate: one teacher, n_test samples as they come."""
    rng = random_stream(task, "test")
    data = draw_sparse(inputs, task.n_test, rng)
    patterns = distinct_patterns(inputs, data)
    embedding, teachers = _extend(readout, data.active, rng, unseen_teachers=True)
    expected = np.asarray(patterns.matrix(len(data.active)) @ teachers)
    total = 0.0
    for rows, hidden in _hidden(patterns, embedding):
        answers = np.maximum(hidden, 0.0, out=hidden) @ readout.theta
        squares = ((expected[rows] - answers) ** 2).sum(axis=1)
        total += float(patterns.counts[rows] @ squares)
    return total / task.n_test


def _towards_positive(data: SparseData) -> SparseData:
    """Each sample times the sign of its first coordinate, which is always active."""
    first = np.empty(data.samples, dtype=data.sign.dtype)
    always = data.column == 0
    first[data.sample[always]] = data.sign[always]
    return dataclasses.replace(data, sign=data.sign * first[data.sample])


def _extend(
    readout: Readout, active: FloatArray, rng: np.random.Generator, *, unseen_teachers: bool
) -> tuple[FloatArray, FloatArray]:
    """Columns of u (K', N) and teachers (K', T) of the test coordinates, drawn where training had none."""
    place = np.minimum(np.searchsorted(readout.active, active), len(readout.active) - 1)
    seen = readout.active[place] == active
    new = np.count_nonzero(~seen)
    N, T = readout.theta.shape
    embedding, teachers = readout.embedding[place], readout.teachers[place]
    embedding[~seen] = rng.standard_normal((new, N)) / np.sqrt(N)
    teachers[~seen] = rng.standard_normal((new, T)) if unseen_teachers else 0.0
    return embedding, teachers


def _hidden(patterns: Patterns, embedding: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """u x for the patterns, a block of them at a time: (rows, (block, N))."""
    block = max(1, BLOCK // embedding.shape[1])
    for begin in range(0, len(patterns.counts), block):
        rows = slice(begin, min(begin + block, len(patterns.counts)))
        start, stop = patterns.indptr[rows.start], patterns.indptr[rows.stop]
        indptr = patterns.indptr[rows.start : rows.stop + 1] - start
        column, value = patterns.column[start:stop], patterns.value[start:stop]
        yield rows, preactivations(indptr, column, value, embedding)
