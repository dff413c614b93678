"""SGD with a given number of passes: how the loss falls with D, and how the exponent depends on the passes.

A coordinate seen n_j times has been moved through a curvature n_j c_j / D for passes * D steps of size eta,
so it is learned once eta * passes * n_j c_j > 1. With a fixed number of passes the coordinates learned are
those with passes * D s_j > 1, j < (passes D)^(1/a), a = alpha1 + alpha2 + 2, and the loss falls as
  D^-(a-1)/a,   slower than the D^-(a-1)/(alpha1+1) of training to the end whenever alpha2 > -1.
The passes needed to learn every coordinate seen grow as D^((alpha2+1)/(alpha1+1)): at a fixed number of
passes a D-sweep crosses over from the steeper law to the shallower one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sparselaw.compiled import njit
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.inputs import ActivationInputs
from sparselaw.solvers import SGD
from sparselaw.solvers.sgd import MixedRows
from sparselaw.trials.linear_problem import draw_embedding

# SGD for several teachers at once, on the same samples in the same order: means with little scatter.
#
# A run is linear in its targets, and its loss a quadratic form of the teacher. With signs as the teacher's
# components the diagonal of that form, its mean, comes out exactly; a few teachers take the rest down. N may
# be infinite: then the features are the coordinates themselves.

TEACHERS = 8


def sgd_loss(
    inputs: ActivationInputs,
    N: float,
    D: int,
    solver: SGD,
    noise: float = 0.0,
    seed: int = 0,
    teachers: int = TEACHERS,
    steps: Sequence[float] | None = None,
) -> float:
    """The population loss of one run, averaged over teachers and over what the data never show.

    ``steps`` has the step of each pass, in place of the solver's one.
    """
    rng = np.random.Generator(np.random.PCG64([seed, D, 17]))
    data = draw_sparse(inputs, D, rng)
    n = data.active.size
    patterns = distinct_patterns(inputs, data)
    mixing = np.empty((0, n)) if math.isinf(N) else draw_embedding(int(N), n, rng)
    rows = MixedRows(samples=patterns.matrix(n), mixing=mixing)
    inner = np.ascontiguousarray(mixing.T @ mixing) if mixing.size else np.empty((0, 0))
    hot = rows.hot(patterns.counts)[0] if mixing.size else n
    teacher = rng.choice(np.array([-1.0, 1.0]), size=(n, teachers))
    step = 1.0 / float(np.sum(inputs.variances(data.active))) if solver.step is None else solver.step
    error, moved = teacher.copy(), np.zeros((n, teachers))
    labels = math.sqrt(noise) * rng.standard_normal((D if noise > 0.0 else 1, teachers))
    samples = rows.samples
    for size in steps if steps is not None else [step] * solver.passes:
        order = rng.permutation(D)
        _pass(
            error, moved, teacher, inner, samples.indptr, samples.indices, samples.data,
            patterns.inverse[order], labels, order if noise > 0.0 else np.zeros(D, dtype=np.int64),
            size, solver.batch, hot,
        )  # fmt: skip
    unseen = inputs.unseen_variance(data.active)
    norm = 0.0
    if mixing.size:
        error = teacher - inner @ moved
        norm = float(np.mean(np.sum(moved * (inner @ moved), axis=0)))
    seen = float(np.mean(inputs.variances(data.active) @ error**2))
    return seen + unseen * (1.0 + (norm / N if mixing.size else 0.0))


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def _pass(error, moved, teacher, inner, starts, columns, values, rows, labels, label, step, batch, hot):  # type: ignore[no-untyped-def]
    """One pass; ``error`` (n, T) is teacher - W moved, kept for the first ``hot`` coordinates."""
    n, teachers = error.shape
    residuals = np.empty((min(batch, max(rows.size, 1)), teachers))
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        for k in range(size):
            row = rows[begin + k]
            for t in range(teachers):
                residuals[k, t] = labels[label[begin + k], t]
            for i in range(starts[row], starts[row + 1]):
                j = columns[i]
                if j >= hot:
                    error[j] = teacher[j]
                    for c in range(n):
                        w = inner[j, c]
                        for t in range(teachers):
                            error[j, t] -= w * moved[c, t]
                for t in range(teachers):
                    residuals[k, t] += values[i] * error[j, t]
        for k in range(size):
            row = rows[begin + k]
            for i in range(starts[row], starts[row + 1]):
                j = columns[i]
                change = step / size * values[i]
                if inner.size == 0:
                    for t in range(teachers):
                        error[j, t] -= change * residuals[k, t]
                else:
                    for t in range(teachers):
                        moved[j, t] += change * residuals[k, t]
                    for h in range(hot):
                        w = change * inner[j, h]
                        for t in range(teachers):
                            error[h, t] -= w * residuals[k, t]
