"""The compiled trainer: finite differences, a numpy twin for its steps, an exact optimum for its end."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import networks as naive
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.experiments.networks import Adam, Momentum, Network
from sparselaw.experiments.networks.train import Lesson, draw_weights, loss_and_gradient, train
from sparselaw.inputs import SparseInputs

KINDS = [
    (Network(2, 5, "linear"), False),
    (Network(2, 5, "relu"), False),
    (Network(3, 4, "relu"), False),
    (Network(4, 3, "linear"), False),
    (Network(2, 4, "relu", frozen=True), False),
    (Network(2, 4, "linear"), True),
    (Network(3, 4, "relu", frozen=True), True),
]


def lesson_of(classes=False, D=400, m=3, seed=0):
    inputs, rng = SparseInputs(alpha1=0.5, alpha2=0.3), np.random.default_rng(seed)
    data = draw_sparse(inputs, D, rng)
    patterns = distinct_patterns(inputs, data)
    rows, share = patterns.matrix(data.active.size), patterns.counts / patterns.counts.sum()
    targets = rows @ rng.standard_normal((data.active.size, m))
    if classes:
        targets = np.eye(m)[rng.integers(0, m, share.size)]
    return Lesson(rows, share, targets, classes), rows.toarray()


def start_of(network, lesson, seed=0):
    adam = Adam(start=1.0)
    weights = draw_weights(
        network, adam, lesson.samples.shape[1], lesson.targets.shape[1], np.random.default_rng(seed)
    )
    if network.frozen:
        weights.last[:] = np.random.default_rng(1).standard_normal(weights.last.shape)
    return weights


def layers_of(weights):
    return [weights.first, *(layer.T for layer in weights.hidden), weights.last.T]


@pytest.mark.parametrize(("network", "classes"), KINDS, ids=str)
def test_gradients_are_finite_differences(network, classes):
    lesson, _ = lesson_of(classes)
    weights = start_of(network, lesson)
    g = [np.zeros_like(layer) for layer in (weights.first, weights.hidden, weights.last)]

    samples = lesson.samples
    indptr, column = samples.indptr.astype(np.int64), samples.indices.astype(np.int64)

    def evaluate(grads):
        return loss_and_gradient(
            indptr, column, samples.data, lesson.weight, lesson.targets, weights.first,
            weights.hidden, weights.last, not network.is_linear, classes, network.frozen, *grads,
        )  # fmt: skip

    evaluate(g)
    rng = np.random.default_rng(2)
    spare = [np.zeros_like(layer) for layer in g]
    for layer, gradient in zip((weights.first, weights.hidden, weights.last), g, strict=True):
        if layer.size == 0:
            continue
        for place in rng.integers(0, layer.size, 6):
            at = np.unravel_index(place, layer.shape)
            kept, h = layer[at], 1e-6
            layer[at] = kept + h
            up = evaluate(spare)
            layer[at] = kept - h
            down = evaluate(spare)
            layer[at] = kept
            expected = 0.0 if network.frozen and layer is weights.first else (up - down) / (2 * h)
            assert gradient[at] == pytest.approx(expected, abs=2e-8, rel=1e-6)


@pytest.mark.parametrize(("network", "classes"), KINDS, ids=str)
def test_twenty_steps_are_those_of_the_twin(network, classes):
    lesson, X = lesson_of(classes)
    start, adam = start_of(network, lesson), Adam(steps=20, rate=0.01, warm_up=5)
    trained = train(network, adam, lesson, start)
    relu = not network.is_linear
    expected = naive.adam(
        X, lesson.weight, lesson.targets, layers_of(start), relu, classes, network.frozen, 20, 0.01, 5
    )
    for ours, theirs in zip(layers_of(trained.weights), expected, strict=True):
        assert np.abs(ours - theirs).max() < 1e-10
    final = naive.loss(X, lesson.weight, lesson.targets, expected, relu, classes)
    assert trained.losses[-1] == pytest.approx(final, rel=1e-9)
    assert trained.losses[0] == pytest.approx(
        naive.loss(X, lesson.weight, lesson.targets, layers_of(start), relu, classes), rel=1e-9
    )


@pytest.mark.parametrize("depth", [2, 3])
def test_a_long_run_ends_at_the_exact_optimum(depth):
    """Width 3 and six outputs: what Adam leaves is what reduced-rank regression leaves, here by dense SVD."""
    lesson, X = lesson_of(D=200, m=6)
    Y = lesson.targets
    root = np.sqrt(lesson.weight)[:, None]
    U, S, V = np.linalg.svd(root * Y, full_matrices=False)
    # exact targets: Y = X T, so the best rank-3 fit of the rows is the best rank-3 network
    best = float(np.sum(S[3:] ** 2)) / 6
    network = Network(depth, 3, "linear")
    trained = train(network, Adam(steps=6000, rate=0.02), lesson, start_of(network, lesson))
    assert trained.losses[-1] == pytest.approx(best, rel=1e-3)
    assert trained.losses[-1] > best * (1 - 1e-9)
    assert best > 0.0
    assert np.linalg.matrix_rank((U * S) @ V) == 6
    assert X.shape[0] == Y.shape[0]


def test_a_rate_that_is_too_large_is_seen():
    lesson, _ = lesson_of()
    network = Network(3, 4, "linear")
    trained = train(network, Adam(steps=200, rate=1e200), lesson, start_of(network, lesson))
    assert not np.isfinite(trained.losses[-1])


def test_momentum_is_the_running_mean_of_the_gradients():
    lesson, X = lesson_of()
    network = Network(2, 4, "relu")
    start = start_of(network, lesson)
    trained = train(network, Momentum(steps=5, rate=0.1, warm_up=1), lesson, start)
    layers, mean = layers_of(start), [0.0, 0.0]
    for t in range(5):
        found = naive.gradients(X, lesson.weight, lesson.targets, layers, True, False)
        mean = [0.9 * m + 0.1 * g for m, g in zip(mean, found, strict=True)]
        eta = 0.1 * (1.0 + np.cos(np.pi * t / 5)) / 2.0 / (1.0 - 0.9 ** (t + 1))
        layers = [W - eta * m for W, m in zip(layers, mean, strict=True)]
    for ours, theirs in zip(layers_of(trained.weights), layers, strict=True):
        assert np.abs(ours - theirs).max() < 1e-12
