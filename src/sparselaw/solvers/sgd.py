"""Minibatch stochastic gradient descent, in any orthonormal basis of the features' span.

A step moves theta along the features of its batch, so from zero the iterates stay in their span and depend on
the features through inner products alone: rows written in the eigenbasis (P, r) give the same run as rows in
R^N, at r numbers a sample.

Rows that are few nonzeros mixed by an embedding, phi = U x, are left unmixed where that is less work
(``MixedRows``). From zero theta = U m with m in the coordinates of x, so that a step changes m at the
nonzeros of its samples alone. A prediction needs (W m)_j at those nonzeros, W = U^T U. For the first ``hot``
coordinates, which are active most often, W m is kept up to date; for the others it is computed when it is
asked for. A visit then costs ``hot`` numbers a nonzero, and n numbers for each nonzero beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import lazy_njit
from sparselaw.errors import InputError, check_choice, check_not_negative, check_size, check_step
from sparselaw.numbers import real
from sparselaw.solvers.base import LATER, Solution, Solver, check_momentum, register

if TYPE_CHECKING:
    from scipy import sparse

    from sparselaw.theory.training.schedule import Descent

ENOUGH = 1e6  # multiplications to be saved: below, the two ways take the same time
SLOWER = 2.0  # a multiplication among scattered nonzeros, in those along dense rows


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedRows:
    """The rows samples @ mixing^T, in either form."""

    samples: sparse.csr_array  # (P, n)
    mixing: FloatArray  # U (k, n)

    def __len__(self) -> int:
        return int(self.samples.shape[0])

    def dense(self) -> FloatArray:
        return np.asarray(self.samples @ self.mixing.T)

    def squares(self) -> FloatArray:
        """|phi|^2 of each row."""
        inner = self.mixing.T @ self.mixing
        return np.asarray(self.samples.multiply(self.samples @ inner).sum(axis=1)).ravel()

    def hot(self, counts: IntArray | None) -> tuple[int, float]:
        """How many coordinates to keep up to date, and what a visit then costs."""
        n = self.mixing.shape[1]
        lengths = np.diff(self.samples.indptr)
        weights = np.repeat(np.ones(len(self)) if counts is None else counts, lengths)
        active = np.bincount(self.samples.indices, weights, minlength=n)
        active = active / (len(self) if counts is None else counts.sum())
        beyond = np.concatenate([active[::-1].cumsum()[::-1], [0.0]])
        cost = np.arange(n + 1) * active.sum() + n * beyond
        best = int(np.argmin(cost))
        return best, float(cost[best])

    def worth_it(self, passes: int, counts: IntArray | None) -> bool:
        """Whether the nonzeros are less work than the dense rows."""
        visits = passes * (len(self) if counts is None else int(counts.sum()))
        dense = 2.0 * self.mixing.shape[0]
        if visits * dense <= ENOUGH:
            return False
        return bool(visits * (dense - SLOWER * self.hot(counts)[1]) > ENOUGH)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class SGD(Solver):
    """Minibatch stochastic gradient descent.

    Parameters
    ----------
    passes
        Passes over the data, which are shuffled anew for each.
    step
        Size of a step; (1 - momentum)/E|phi|^2 unless given, which is stable for one sample at a time.
    batch
        Samples in a step.
    momentum
        Share of the last update that is added to the next.
    schedule
        How the step falls along the run: constant, cosine, linear, step:0.8, wsd:0.8. It ends at a tenth,
        or where ",end=0" says.
    """

    name: ClassVar[str] = "sgd"
    by_samples: ClassVar[bool] = True
    takes_mixed: ClassVar[bool] = True
    remedy: ClassVar[str] = "reduce passes or D"
    passes: int
    step: float | None = None
    batch: int = 1
    momentum: float = field(default=0.0, metadata=LATER)
    schedule: str = field(default="constant", metadata=LATER)

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", check_size("passes", self.passes))
        object.__setattr__(self, "batch", check_size("batch", self.batch))
        if self.step is not None:
            object.__setattr__(self, "step", check_step(self.step))
        object.__setattr__(self, "momentum", check_momentum(self.momentum))
        if len(step_pieces(self.schedule)) > 1 and self.step is None:
            condition = f"is needed by the schedule {self.schedule}"
            raise InputError("step", "", condition, "give step, the first one")

    @property
    def descent(self) -> Descent:
        from sparselaw.theory.training.schedule import Descent

        pieces = step_pieces(self.schedule)
        if self.step is not None and len(pieces) > 1:
            parts = tuple((share * self.passes, factor * self.step) for share, factor in pieces)
            return Descent(segments=parts, batch=self.batch, momentum=self.momentum)
        return Descent(step=self.step, passes=self.passes, batch=self.batch, momentum=self.momentum)

    def solve_samples(
        self,
        features: FloatArray | MixedRows,
        targets: FloatArray,
        rng: np.random.Generator,
        counts: IntArray | None = None,
    ) -> Solution:
        """Each sample is visited once a pass, in a fresh order; the last batch of a pass may be short."""
        momentum = self.momentum  # its updates reach every feature, so that nonzeros save nothing
        if isinstance(features, MixedRows) and (momentum > 0.0 or not features.worth_it(self.passes, counts)):
            features = features.dense()
        counts = np.ones(len(features), dtype=np.int64) if counts is None else counts
        row_of_sample = np.repeat(np.arange(len(features)), counts)
        target_of_sample = row_of_sample if len(targets) == len(features) else np.arange(len(row_of_sample))
        step = self.step if self.step is not None else (1.0 - momentum) * default_step(features, counts)
        targets = np.ascontiguousarray(targets)
        if isinstance(features, MixedRows):
            mixing, samples = features.mixing, features.samples
            theta = np.zeros((targets.shape[1], mixing.shape[1]))  # of the coordinates
            fits = np.zeros((targets.shape[1], features.hot(counts)[0]))
            inner = np.ascontiguousarray(mixing.T @ mixing)
            given = (inner, samples.indptr, samples.indices, samples.data, targets)
        else:
            features = np.ascontiguousarray(features)
            theta = np.zeros((targets.shape[1], features.shape[1]))
            velocity = np.zeros_like(theta)
        done = 0
        each = -(-len(row_of_sample) // self.batch)  # batches of a pass
        while done < self.passes and np.isfinite(theta).all():
            order = rng.permutation(len(row_of_sample))
            for part, factor in _parts_of_pass(self, done, each):
                chosen = order[part]
                batches = (row_of_sample[chosen], target_of_sample[chosen], factor * step, self.batch)
                if isinstance(features, MixedRows):
                    mixed_pass(theta, fits, *given, *batches)
                else:
                    one_pass(theta, velocity, features, targets, *batches, momentum, np.inf)
            done += 1
        diverged = not np.isfinite(theta).all()
        return Solution(
            coefficients=mixing @ theta.T if isinstance(features, MixedRows) else theta.T,
            status="diverged" if diverged else "ok",
            reason=f"the iterates overflowed at step {step:g}" if diverged else "",
            iterations=done * each,
        )

    def work(self, samples: float, width: float) -> float:
        return 4.0 * self.passes * samples * width


def default_step(features: FloatArray | MixedRows, counts: IntArray | None = None) -> float:
    """1 / E|phi|^2 over the training samples; features that are all zero move nothing, whatever the step."""
    squares = features.squares() if isinstance(features, MixedRows) else (features**2).sum(axis=1)
    square = float(np.average(squares, weights=counts))
    return 1.0 / square if square > 0.0 else 1.0


def _parts_of_pass(settings: SGD, number: int, each: int) -> Iterator[tuple[slice, float]]:
    """Samples of a pass of ``each`` batches that share a step, and that step over the first one."""
    shares, factors = np.array(step_pieces(settings.schedule)).T
    ends = np.round(np.cumsum(shares) * settings.passes * each).astype(int) - number * each
    begin = 0
    for end, factor in zip(np.minimum(ends, each).tolist(), factors.tolist(), strict=True):
        if end > begin:
            yield slice(begin * settings.batch, end * settings.batch), factor
            begin = end


@lazy_njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def one_pass(theta, velocity, features, targets, rows, labels, step, batch, momentum, clip):  # type: ignore[no-untyped-def]
    """Batch after batch, in place, with the mean gradient over the batch of (phi . theta - y) phi:

    velocity <- momentum velocity - step gradient, theta <- theta + velocity. Without momentum the velocity
    is left alone. A gradient longer than ``clip`` is shortened to it.
    """
    gradient = np.empty(theta.shape[1])
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        for t in range(theta.shape[0]):
            gradient[:] = 0.0
            for k in range(begin, begin + size):
                phi = features[rows[k]]
                residual = -targets[labels[k], t]
                for i in range(phi.size):
                    residual += phi[i] * theta[t, i]
                for i in range(phi.size):
                    gradient[i] += residual * phi[i]
            move = step / size
            if clip < np.inf:
                length = np.sqrt(np.sum(gradient * gradient)) / size
                if length > clip:
                    move *= clip / length
            if momentum > 0.0:
                for i in range(gradient.size):
                    velocity[t, i] = momentum * velocity[t, i] - move * gradient[i]
                    theta[t, i] += velocity[t, i]
            else:
                for i in range(gradient.size):
                    theta[t, i] -= move * gradient[i]


@lazy_njit(error_model="numpy")
def _inner_product(a, b, n):  # type: ignore[no-untyped-def]
    """In four sums, none of which waits for another."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = n - n % 4
    for c in range(0, whole, 4):
        first += a[c] * b[c]
        second += a[c + 1] * b[c + 1]
        third += a[c + 2] * b[c + 2]
        fourth += a[c + 3] * b[c + 3]
    for c in range(whole, n):
        first += a[c] * b[c]
    return (first + second) + (third + fourth)


@lazy_njit(error_model="numpy")
def mixed_pass(weights, fits, inner, starts, columns, values, targets, rows, labels, step, batch):  # type: ignore[no-untyped-def]
    """One pass over ``rows``, batch after batch; ``weights`` (T, n) and ``fits`` (T, hot) in place.

    Every sum has its order, so that compiled and plain code give the same bits.

    A batch moves m by -step/size * sum of residual * x; the residuals are those before the move.
    """
    hot, n = fits.shape[1], weights.shape[1]
    residuals = np.empty(min(batch, max(rows.size, 1)))
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        move = step / size
        for t in range(weights.shape[0]):
            for k in range(size):
                row = rows[begin + k]
                residual = -targets[labels[begin + k], t]
                for i in range(starts[row], starts[row + 1]):
                    j = columns[i]
                    if j < hot:
                        residual += values[i] * fits[t, j]
                    else:
                        residual += values[i] * _inner_product(inner[j], weights[t], n)
                residuals[k] = residual
            for k in range(size):
                row = rows[begin + k]
                for i in range(starts[row], starts[row + 1]):
                    j = columns[i]
                    change = move * residuals[k] * values[i]
                    weights[t, j] -= change
                    for h in range(hot):
                        fits[t, h] -= change * inner[j, h]


# How the step falls along a run: named shapes of a decay, from the first step to the last.


# Share of the way from the first rate to the last, for the share of the decay that is over.
DECAYS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "cosine": lambda x: 0.5 * (1.0 - np.cos(np.pi * x)),
    "linear": lambda x: x,
    "wsd": lambda x: x,
    "wsd-sqrt": np.sqrt,
    "wsd-exp": lambda x: x,  # of the logarithm of the rate
    "step": lambda x: np.ones_like(x),
}
LATE = ("wsd", "wsd-sqrt", "wsd-exp", "step")  # these stay at the first rate for a while
END, START = 0.1, 0.8  # share of the first rate at the end, and of the run before a late decay, unless given
PIECES = 40  # constant steps that stand for a falling one, in theory and simulation alike


def decayed(shape: str, share: FloatArray, end: float) -> FloatArray:
    """The rate over the first one where ``share`` of the decay is over; it ends at ``end``."""
    gone = DECAYS[shape](share)
    if shape == "wsd-exp":
        return np.asarray(max(end, 1e-3) ** gone)
    return np.asarray(1.0 + (end - 1.0) * gone)


def step_pieces(text: str) -> tuple[tuple[float, float], ...]:
    """(share of the run, step over the first one) of constant pieces; ``text`` is as in ``SGD``.

    >>> step_pieces("constant"), step_pieces("step:0.75,end=0.5")
    (((1.0, 1.0),), ((0.75, 1.0), (0.25, 0.5)))
    >>> len(step_pieces("cosine"))
    40
    """
    name, _, rest = text.partition(":") if ":" in text else text.partition(",")
    shape = check_choice("schedule", name.strip(), ["constant", *DECAYS])
    start, end = START if shape in LATE else 0.0, END
    for part in filter(None, rest.split(",")):
        key, sign, value = part.partition("=")
        number = check_not_negative("schedule", real("schedule", value if sign else key))
        known = key.strip() == "end" if sign else shape in LATE
        if not known or number > 1.0 or (shape == "step" and sign and number == 0.0):
            remedy = "write cosine, wsd:0.8, wsd:0.8,end=0 or step:0.5,end=0.1"
            raise InputError("schedule", text, "is no schedule of shares of the run", remedy)
        start, end = (start, number) if sign else (number, end)
    if shape == "constant" or start == 1.0:
        return ((1.0, 1.0),)
    count = 1 if shape == "step" else PIECES
    falling = decayed(shape, (np.arange(count) + 0.5) / count, end)
    return (*([(start, 1.0)] if start else []), *(((1.0 - start) / count, float(f)) for f in falling))
