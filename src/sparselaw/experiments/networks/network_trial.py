"""A network trained on inputs drawn by their activations: one trial.

The network sees the distinct samples weighted by how often each occurred. ``loss`` is the population loss
of one output, exact over the teacher's unseen part; over test inputs it is exact for linear networks and by
strata for others. ``control`` is the unseen variance of the same data (of pairs, where pairs are taught),
so that loss/control compares the network with what any learner must lose. What limits the network is its
status.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.sparse_samples import SparseData, by_sample, distinct_patterns, draw_sparse
from sparselaw.experiments.networks.network import Network, NetworkDescent
from sparselaw.experiments.networks.train import Lesson, Trained, Weights, draw_weights, train
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.task import Record, Task, random_stream


def trial(task: Task) -> Record:
    """Draw the data of ``task``, train the network, measure its loss."""
    if task.inputs.sampling != "activations":
        return _gaussian(task)
    return _facts(task) if task.target == "facts" else _regression(task)


def _parts(task: Task) -> tuple[ActivationInputs, Network, NetworkDescent]:
    """Its inputs, its network, and what trains it."""
    return cast(ActivationInputs, task.inputs), cast(Network, task.network), cast(NetworkDescent, task.solver)


def _regression(task: Task) -> Record:
    inputs, network, adam = _parts(task)
    data = draw_sparse(inputs, task.D, random_stream(task, "data"))
    patterns = distinct_patterns(inputs, data)
    rows, share = patterns.matrix(data.active.size), patterns.counts / patterns.counts.sum()
    unseen = inputs.unseen_variance(data.active)
    rng = random_stream(task, "teacher")
    if task.target == "pairs":
        pairs = seen_pairs(rows, rng)
        targets, control = pair_targets(rows, pairs), unseen_pair_variance(inputs, data.active, pairs)
    else:
        teacher = rng.standard_normal((task.outputs, data.active.size)).T
        targets, control = np.asarray(rows @ teacher), unseen
    start = draw_weights(network, adam, data.active.size, task.outputs, random_stream(task, "embedding"))
    trained = train(network, adam, Lesson(rows, share, targets), start)
    deviation = adam.start / math.sqrt(network.width)

    def loss() -> float:
        if task.target == "linear" and network.is_linear:
            variance = inputs.variances(data.active)
            return linear_network_loss(variance, unseen, teacher, trained.weights, deviation)
        test = random_stream(task, "test")
        space = space_of(inputs, data.active, trained.weights, deviation, test)
        relu = not network.is_linear
        if task.target == "pairs":
            return pair_network_loss(inputs, control, pairs, space, relu, test)
        return relu_network_loss(inputs, unseen, teacher, space, test)

    linear = task.target == "linear"
    return Record(
        **record_values(trained, loss() if np.isfinite(trained.losses[-1]) else math.inf),
        averaged=("unseen", "test") if network.is_linear and linear else ("unseen",),
        control=control,
        control_mean=inputs.expected_unseen(task.D) if linear else None,
        seen=data.active.size,
        sign_unseen=sign_unseen_variance(inputs, data, unseen) if linear else None,
    )


def _facts(task: Task) -> Record:
    inputs, network, adam = _parts(task)
    tokens, counts = draw_tokens(inputs, task.D, random_stream(task, "data"))
    answers = random_stream(task, "teacher").integers(0, task.outputs, size=tokens.size)
    embedding = random_stream(task, "embedding")
    if network.activation == "transformer":
        from sparselaw.experiments.networks.transformer import train_transformer

        trained, wrong, missed = train_transformer(network, adam, counts, answers, task.outputs, embedding)
    else:
        rows = sparse.eye_array(tokens.size, format="csr")  # each token with one nonzero
        lesson = Lesson(rows, counts / counts.sum(), np.eye(task.outputs)[answers], classes=True)
        start = draw_weights(network, adam, tokens.size, task.outputs, embedding)
        trained = train(network, adam, lesson, start)
        said = forward(trained.weights.first, trained.weights, not network.is_linear).argmax(axis=1)
        wrong = (said != answers).astype(float)
        missed = float(counts @ wrong) / task.D
    total = inputs.expected_nonzeros()
    control = inputs.unseen_variance(tokens) / total * (task.outputs - 1) / task.outputs
    forgotten = float(wrong @ inputs.probabilities(tokens)) / total
    return Record(
        **record_values(trained, control + forgotten, missed),
        averaged=("unseen", "test"),
        control=control,
        seen=tokens.size,
    )


# A network trained on dense Gaussian inputs, taught by a linear teacher: one trial, beside the sparse one.
#
# Every coordinate is seen in every sample, so that there is no unseen variance to compare with. The loss is
# measured on a test set of ``TESTS`` samples.

TESTS, BLOCK = 20_000, 4096


def _gaussian(task: Task) -> Record:
    _, network, adam = _parts(task)
    deviation = np.sqrt(task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0)))
    M = deviation.size
    X = random_stream(task, "data").standard_normal((task.D, M)) * deviation
    teacher = random_stream(task, "teacher").standard_normal((task.outputs, M)).T
    lesson = Lesson(sparse.csr_array(X), np.full(task.D, 1.0 / task.D), X @ teacher)
    start = draw_weights(network, adam, M, task.outputs, random_stream(task, "embedding"))
    trained = train(network, adam, lesson, start)
    test, total = random_stream(task, "test"), 0.0
    for begin in range(0, TESTS, BLOCK):
        x = test.standard_normal((min(BLOCK, TESTS - begin), M)) * deviation
        said = forward(x @ trained.weights.first, trained.weights, not network.is_linear)
        total += float(np.sum((said - x @ teacher) ** 2))
    loss = total / (TESTS * task.outputs)
    return Record(**record_values(trained, loss if math.isfinite(loss) else math.inf))


# What limits a trained network: its data, its optimiser, or its width.
#
# ok                  training loss below 5 % of the loss: the data limit it;
# not-converged       above, and the training loss was still falling: the optimiser limits it;
# not-data-limited    above, and it had settled: the width limits it.

DATA_LIMITED = 0.05  # training loss over population loss
ROUNDING = 1e-12  # of the first training loss: nothing is left to learn
SETTLED = 0.1  # fall of the training loss over the second half of the steps, below which it has settled,
STEEP = 0.1  # unless the gradient is still this part of the first


def record_values(trained: Trained, loss: float, error_rate: float | None = None) -> dict[str, Any]:
    """The fields of a record that training decides.

    ``error_rate`` on the training samples takes the place of the training loss where the loss is one too.
    Whether it still falls is seen by the cross-entropy behind it.
    """
    losses = trained.losses
    final = float(losses[-1]) if error_rate is None else error_rate
    status, reason = "ok", ""
    if not np.isfinite(losses[-1]):
        status, reason, loss = "diverged", "the training loss is not finite", math.inf
    elif final > DATA_LIMITED * loss and final > ROUNDING * losses[0]:
        falling = losses[-1] < (1.0 - SETTLED) * losses[losses.size // 2]
        limited = falling or trained.gradient > STEEP
        status = "not-converged" if limited else "not-data-limited"
        reason = f"training loss {final:.2g}, loss {loss:.2g}"
    return {
        "loss": loss,
        "status": status,
        "reason": reason,
        "iterations": losses.size - 1,
        "gradient": trained.gradient,
        "train": final if math.isfinite(final) else None,
    }


# Test inputs by their rarest active coordinate: the error on rare coordinates without waiting for them.
#
# The error of a trained network sits on coordinates seen once, or with one sign, or never: events of
# probability 1/D, which a plain test set hardly holds. So test inputs are sorted by their rarest active
# coordinate s:
#
#     E g(x) = sum_s P(s) E[g(x) | s],      P(s) = p_s prod_{r > s} (1 - p_r),
#
# where given s the commoner coordinates are active as ever and s has either sign. A background is one sample
# of all coordinates; cut off before s and with x_s = +-sqrt(c_s) put in, it is a test input of stratum s.
# Every background serves all strata. The space holds the coordinates seen and as many of the first that were
# not; beyond it coordinates are left out of x here (what the teacher does with them is in the unseen
# variance).

BACKGROUNDS = 32
Answers = tuple[FloatArray, FloatArray]
BEYOND = 2  # unseen coordinates are in the space up to so many times the number seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """S coordinates in ascending order; the first layer has a row for each, drawn where not trained."""

    coordinate: FloatArray  # (S,)
    amplitude: FloatArray
    probability: FloatArray  # (S,) of being the rarest one active
    seen: FloatArray  # (S,) index into the coordinates seen, -1 where unseen
    weights: Weights


def space_of(
    inputs: ActivationInputs, active: FloatArray, weights: Weights, start: float, rng: np.random.Generator
) -> Space:
    """``start`` is the deviation of the first layer's entries before training: unseen rows are still so."""
    nearest = np.arange(1.0, min(inputs.dimension, BEYOND * active.size + 16.0) + 1.0)
    coordinate = np.union1d(active, nearest)
    place = np.searchsorted(active, coordinate)
    inside = place < active.size
    inside[inside] = active[place[inside]] == coordinate[inside]
    seen = np.where(inside, place, -1)
    first = rng.standard_normal((coordinate.size, weights.first.shape[1])) * start
    first[inside] = weights.first[seen[inside]]
    p = inputs.probabilities(coordinate)
    none_beyond = np.concatenate([np.cumprod((1.0 - p)[::-1])[::-1][1:], [1.0]])
    return Space(
        coordinate=coordinate,
        amplitude=inputs.amplitudes(coordinate),
        probability=p * none_beyond,
        seen=seen,
        weights=Weights(first=first, hidden=weights.hidden, last=weights.last),
    )


def error_by_strata(
    inputs: ActivationInputs,
    space: Space,
    relu: bool,
    target: Callable[[FloatArray, FloatArray, FloatArray], Answers],
    rng: np.random.Generator,
) -> float:
    """E |target(x) - f(x)|^2 over x in the space, a mean over outputs.

    ``target(places, values, sizes)`` is what the teacher says of a background with these nonzeros, for all
    strata at once: a part that does not change with the sign of x_s, and one that does (S, m).
    """
    indptr, column, sign = by_sample(drawn := draw_sparse(inputs, BACKGROUNDS, rng))
    size = inputs.amplitudes(drawn.active)
    place = np.searchsorted(space.coordinate, drawn.active)
    place[place == space.coordinate.size] = 0
    inside = space.coordinate[place] == drawn.active
    own = space.amplitude[:, None] * space.weights.first
    total = np.zeros(space.coordinate.size)
    for b in range(BACKGROUNDS):
        columns = column[indptr[b] : indptr[b + 1]]
        values = sign[indptr[b] : indptr[b + 1]] * size[columns]
        kept = inside[columns]
        places, values = place[columns[kept]], values[kept]
        base = np.zeros_like(own)
        for where, x in zip(places, values, strict=True):
            base[where + 1 :] += x * space.weights.first[where]
        even, odd = target(places, values, space.amplitude)
        for turned in (1.0, -1.0):
            error = forward(base + turned * own, space.weights, relu) - (even + turned * odd)
            total += np.mean(error**2, axis=1)
    return float(space.probability @ total) / (2 * BACKGROUNDS)


def forward(z: FloatArray, weights: Weights, relu: bool) -> FloatArray:
    """The outputs (rows, m) from the preactivations of the first layer (rows, N)."""
    act = np.maximum(z, 0.0) if relu else z
    for layer in weights.hidden:
        act = np.maximum(act @ layer.T, 0.0) if relu else act @ layer.T
    outputs: FloatArray = act @ weights.last.T
    return outputs


# A linear teacher with m outputs: T x, the entries of T independent and standard normal.


def linear_network_loss(
    variance: FloatArray, unseen: float, teacher: FloatArray, weights: Weights, start: float
) -> float:
    """The exact loss of a linear network, a mean over outputs, over the teacher's unseen part and over the
    untrained rows of the first layer: sum_seen s_j |T_j - B_j|^2 / m + (1 + start^2 |rest|^2 / m) unseen,
    where B = first rest."""
    rest: FloatArray = weights.last.T
    for layer in weights.hidden[::-1]:
        rest = layer.T @ rest
    error = np.mean((teacher - weights.first @ rest) ** 2, axis=1)
    response = start**2 * float(np.sum(rest**2)) / rest.shape[1]
    return float(variance @ error + (1.0 + response) * unseen)


def relu_network_loss(
    inputs: ActivationInputs, unseen: float, teacher: FloatArray, space: Space, rng: np.random.Generator
) -> float:
    """As above for any network; the error but for the teacher's unseen part is measured on strata."""
    weights = np.where(space.seen[:, None] >= 0, teacher[space.seen], 0.0)

    def target(places: FloatArray, values: FloatArray, sizes: FloatArray) -> Answers:
        even = np.zeros_like(weights)
        for where, x in zip(places, values, strict=True):
            even[where + 1 :] += x * weights[where]
        return even, sizes[:, None] * weights

    return unseen + error_by_strata(inputs, space, True, target, rng)


def sign_unseen_variance(inputs: ActivationInputs, data: SparseData, unseen: float) -> float:
    """The variance of coordinates never seen with the sign they have: half of s_j where one sign was seen."""
    starts = np.searchsorted(data.column, np.arange(data.active.size))
    one_sign = np.maximum.reduceat(data.sign, starts) == np.minimum.reduceat(data.sign, starts)
    return unseen + 0.5 * float(np.sum(inputs.variances(data.active[one_sign])))


# A teacher of products: y = sum_{i<j} v_ij x_i x_j, the v_ij independent and standard normal.
#
# What matters here is which pairs were seen together. The variance of the others, sum s_i s_j over unseen
# pairs, is what no learner can know.

NOTHING_UNSEEN = 1e-14  # of all pairs: none is left unseen


def seen_pairs(rows: sparse.csr_array, rng: np.random.Generator) -> FloatArray:
    """V (K, K), upper triangle: v_ij where i and j were seen in one of the samples, 0 elsewhere."""
    met = np.asarray((abs(rows.T) @ abs(rows)).todense()) > 0.0
    return np.triu(rng.standard_normal(met.shape) * met, 1)


def pair_targets(rows: sparse.csr_array, pairs: FloatArray) -> FloatArray:
    """(P, 1), of the samples in rows."""
    targets: FloatArray = ((rows @ pairs) * rows.toarray()).sum(axis=1)[:, None]
    return targets


def unseen_pair_variance(inputs: ActivationInputs, active: FloatArray, pairs: FloatArray) -> float:
    """sum_{i<j} s_i s_j over pairs that were never seen together."""
    s = inputs.variances(active)
    total = inputs.tail_variance(0)
    squares = math.fsum(inputs.variances(np.arange(1.0, min(inputs.dimension, 1e5) + 1.0)) ** 2)
    seen = float(s @ (pairs != 0.0) @ s)
    unseen = 0.5 * (total**2 - squares) - seen
    return unseen if unseen > NOTHING_UNSEEN * total**2 else 0.0


def pair_network_loss(
    inputs: ActivationInputs,
    unseen: float,
    pairs: FloatArray,
    space: Space,
    relu: bool,
    rng: np.random.Generator,
) -> float:
    """The unseen pairs' variance, plus the error on the seen ones by strata."""
    seen = space.seen >= 0
    taught = np.zeros((space.seen.size, space.seen.size))
    taught[np.ix_(seen, seen)] = pairs

    def target(places: FloatArray, values: FloatArray, sizes: FloatArray) -> Answers:
        even, odd = np.zeros((taught.shape[0], 1)), np.zeros((taught.shape[0], 1))
        for k, (where, x) in enumerate(zip(places, values, strict=True)):
            among = x * float(values[:k] @ taught[places[:k], where])  # with the commoner ones
            even[where + 1 :, 0] += among
            odd[where + 1 :, 0] += x * taught[where, where + 1 :]
        return even, sizes[:, None] * odd

    return unseen + error_by_strata(inputs, space, relu, target, rng)


# Facts: Zipf tokens, each with one of C answers to be memorised.
#
# A sample is one token, j with probability p_j / sum p: sparse inputs of which exactly one coordinate is
# active, with amplitude 1, so that s_j = p_j and alpha2 = -1. A token that was never seen is answered wrongly
# with probability (C-1)/C, whatever the network: the error rate is the unseen variance, over sum p, times
# (C-1)/C plus the seen tokens that were not memorised. Cross-entropy misleads, since a network is sure of
# itself on tokens it has not seen: the loss of these trials is the error rate.


def draw_tokens(inputs: ActivationInputs, D: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """The tokens seen in D draws, ascending, and how often each was.

    A token is 1 with probability 1 / sum p. Otherwise it comes from the tail of the others, which is drawn
    with the law -log(1 - p_j) by ``draw_tail`` and kept with probability p_j / -log(1 - p_j) over its
    bound.
    """
    total = inputs.expected_nonzeros()
    ones = int(rng.binomial(D, 1.0 / total))
    wanted, drawn = D - ones, [np.ones(0)]
    while (missing := wanted - sum(part.size for part in drawn)) > 0:
        proposed = inputs.draw_tail(1, int(1.5 * missing) + 16, rng)
        p = inputs.probabilities(proposed)
        kept = proposed[rng.random(proposed.size) < p / -np.log1p(-p)]
        drawn.append(kept[:missing])
    tokens, counts = np.unique(np.concatenate([np.ones(ones), *drawn]), return_counts=True)
    return tokens, counts
