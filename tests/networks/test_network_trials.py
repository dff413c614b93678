"""Trials of networks: what a record holds, its status, and the population loss against drawn test sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sparselaw as sl
import sparselaw.experiments.networks.network as record_of_network
from oracles import networks as naive
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.experiments.networks import Adam, Network
from sparselaw.experiments.networks.network_trial import (
    draw_tokens,
    linear_network_loss,
    pair_network_loss,
    pair_targets,
    relu_network_loss,
    seen_pairs,
    sign_unseen_variance,
    space_of,
    unseen_pair_variance,
)
from sparselaw.experiments.networks.train import Weights
from sparselaw.inputs import SparseInputs
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

SMALL = SparseInputs(alpha1=0.6, alpha2=0.2, dimension=14)
TESTS = 400_000


@pytest.fixture
def drawn():
    """Twelve samples of fourteen coordinates, some of them not seen, and weights as if trained."""
    rng = np.random.default_rng(5)
    data = draw_sparse(SMALL, 12, rng)
    K = data.active.size
    assert 5 < K < 14
    weights = Weights(
        first=rng.standard_normal((K, 6)), hidden=np.zeros((0, 6, 6)), last=rng.standard_normal((2, 6)) / 50
    )
    return data, weights, rng


def dense_first(data, weights, start, rng):
    first = rng.standard_normal((14, weights.first.shape[1])) * start
    first[data.active.astype(int) - 1] = weights.first
    return first


def squared_errors(data, weights, start, target, relu, rng):
    """Of a test set drawn in full, with a fresh unseen part of the first layer for every block.

    ``target`` gives what is taught of what was seen, and the mean square of the rest.
    """
    found = []
    j = np.arange(1.0, 15.0)
    for _ in range(40):
        X = naive.test_inputs(SMALL.probabilities(j), SMALL.amplitudes(j), TESTS // 40, rng)
        layers = [dense_first(data, weights, start, rng), *weights.hidden, weights.last.T]
        out, _ = naive.forward(X, layers, relu)
        taught, rest = target(X)
        found.append(np.mean((out - taught) ** 2) + np.mean(rest))
    return np.array(found)


@pytest.mark.parametrize("relu", [False, True])
def test_population_loss_is_that_of_a_test_set(drawn, relu):
    """4 standard errors (false alarm 6e-5); a tenth of the unseen variance less, planted, is out."""
    data, weights, rng = drawn
    teacher = 0.05 * rng.standard_normal((data.active.size, 2))
    start, unseen = 0.5, SMALL.unseen_variance(data.active)

    def target(X):
        places = data.active.astype(int) - 1
        return X[:, places] @ teacher, np.sum(np.delete(X, places, axis=1) ** 2, axis=1)

    errors = squared_errors(data, weights, start, target, relu, rng)
    if relu:
        losses = [
            relu_network_loss(SMALL, unseen, teacher, space_of(SMALL, data.active, weights, start, rng), rng)
            for _ in range(40)
        ]
    else:
        losses = [linear_network_loss(SMALL.variances(data.active), unseen, teacher, weights, start)]
    spread = math.hypot(errors.std() / math.sqrt(40), np.std(losses) / math.sqrt(len(losses)))
    assert abs(np.mean(losses) - errors.mean()) < 4 * spread
    assert abs(np.mean(losses) - 0.1 * unseen - errors.mean()) > 4 * spread


def test_population_loss_of_pairs(drawn):
    """As above, where the teacher multiplies pairs; the network has one output."""
    data, weights, rng = drawn
    weights = Weights(first=weights.first, hidden=weights.hidden, last=weights.last[:1])
    rows = distinct_patterns(SMALL, data).matrix(data.active.size)
    pairs = 0.05 * seen_pairs(rows, rng)
    unseen = unseen_pair_variance(SMALL, data.active, pairs)
    whole = np.zeros((14, 14))
    places = data.active.astype(int) - 1
    whole[np.ix_(places, places)] = pairs
    j = np.arange(1.0, 15.0)
    s = SMALL.variances(j)
    missing = np.triu(whole == 0.0, 1)
    assert unseen == pytest.approx(s @ missing @ s, rel=1e-9)

    def target(X):
        return np.sum((X @ whole) * X, axis=1, keepdims=True), np.sum((X**2 @ missing) * X**2, axis=1)

    errors = squared_errors(data, weights, 0.5, target, True, rng)
    losses = [
        pair_network_loss(SMALL, unseen, pairs, space_of(SMALL, data.active, weights, 0.5, rng), True, rng)
        for _ in range(40)
    ]
    spread = math.hypot(errors.std() / math.sqrt(40), np.std(losses) / math.sqrt(40))
    assert abs(np.mean(losses) - errors.mean()) < 4 * spread
    assert abs(np.mean(losses) - 0.1 * unseen - errors.mean()) > 4 * spread
    X = rows.toarray()
    expected = [sum(pairs[a, b] * x[a] * x[b] for a in range(x.size) for b in range(x.size)) for x in X]
    assert pair_targets(rows, pairs)[:, 0] == pytest.approx(expected)


def test_sign_unseen_variance_by_counting():
    rng = np.random.default_rng(0)
    data = draw_sparse(SMALL, 6, rng)
    expected = 0.0
    for j in range(1, 15):
        columns = np.flatnonzero(data.active == j)
        signs = set(data.sign[data.column == columns[0]].tolist()) if columns.size else set()
        expected += float(SMALL.variances(np.array([float(j)]))[0]) * (2 - len(signs)) / 2
    found = sign_unseen_variance(SMALL, data, SMALL.unseen_variance(data.active))
    assert found == pytest.approx(expected, rel=1e-12)


def test_tokens_follow_zipf():
    """Counts of the first tokens against their law: 5 standard deviations (false alarm 6e-7 each)."""
    inputs, D = SparseInputs(alpha1=0.5, alpha2=-1.0), 40_000
    tokens, counts = draw_tokens(inputs, D, np.random.default_rng(3))
    assert counts.sum() == D
    total = inputs.expected_nonzeros()
    for j, count in zip(tokens[:6], counts[:6], strict=True):
        p = j**-1.5 / total
        assert abs(count - D * p) < 5 * math.sqrt(D * p * (1 - p))
        assert abs(count - D * j**-1.5) > 5 * math.sqrt(D * p * (1 - p))
    assert tokens[-1] > 1e5  # infinitely many


def record_of(D=300, N=16, network=None, **settings):
    inputs = settings.pop("inputs", SparseInputs(alpha1=1.0, alpha2=0.3))
    return run(Task(inputs=inputs, N=N, D=D, network=network or Network(activation="relu"), **settings))


def test_a_record_says_what_the_data_allow():
    record = record_of(network=Network(2))
    assert record.status == "ok"
    assert record.iterations == 1000
    assert record.loss / record.control == pytest.approx(1.0, abs=0.05)
    assert record.control < record.sign_unseen
    assert record.train < 0.05 * record.loss
    assert record == record_of(network=Network(2))
    relu = record_of()
    assert relu.status == "ok"
    assert 0.9 < relu.loss / relu.control < 6.0


def test_what_limits_a_run_is_its_status():
    few = record_of(solver=Adam(steps=40))
    assert few.status == "not-converged"
    assert "training loss" in few.reason
    narrow = record_of(network=Network(2), N=2, outputs=12, solver=Adam(steps=2000, rate=0.02))
    assert narrow.status == "not-data-limited"
    wild = record_of(network=Network(3), solver=Adam(steps=60, rate=1e200))
    assert (wild.status, wild.loss) == ("diverged", math.inf)


def test_facts_are_limited_by_what_was_not_seen():
    tokens = SparseInputs(alpha1=1.0, alpha2=-1.0)
    settings = {"inputs": tokens, "target": "facts", "outputs": 8, "D": 400}
    trained = record_of(network=Network(2), N=16, **settings)
    assert trained.status == "ok"
    assert trained.loss == trained.control
    frozen = record_of(network=Network(2, frozen=True), N=3, **settings)
    assert frozen.loss > 1.2 * frozen.control
    assert frozen.status == "not-data-limited"


def test_dense_inputs_have_no_unseen_variance():
    """Twice the samples of all coordinates: a linear network learns them all."""
    dense = sl.DenseInputs(alpha=1.3, dimension=20)
    record = record_of(inputs=dense, network=Network(2), N=8, D=60, solver=Adam(steps=1500))
    assert record.control is None
    assert record.loss < 1e-3
    few = record_of(inputs=dense, network=Network(2), N=8, D=8, solver=Adam(steps=1500))
    assert few.status == "ok"
    assert few.loss > 1e-3


def test_pairs_are_taught_to_nonlinear_networks():
    record = record_of(target="pairs", N=48, D=200)
    assert record.status == "ok"
    assert record.loss > 0.5 * record.control
    linear = record_of(target="pairs", network=Network(2), D=200, solver=Adam(steps=300))
    assert linear.status != "ok"  # no product is linear


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"solver": sl.Ridge(ridge=1.0)}, "solver"),
        ({"features": "relu"}, "features"),
        ({"noise": 0.1}, "noise"),
        ({"estimator": "raw"}, "estimator"),
        ({"target": "poems"}, "target"),
        ({"target": "facts", "inputs": sl.SparseInputs(alpha1=1.0, alpha2=-1.0)}, "outputs"),
        ({"target": "pairs", "outputs": 2}, "outputs"),
        ({"target": "facts", "outputs": 4}, "alpha2"),
        ({"inputs": sl.DenseInputs(alpha=1.3), "target": "pairs"}, "target"),
    ],
)
def test_refusals(settings, name):
    with pytest.raises(sl.InputError, match=f"{name}="):
        record_of(**settings)


def test_networks_that_are_none():
    with pytest.raises(sl.InputError, match="depth=1"):
        Network(1)
    with pytest.raises(sl.InputError, match="network=cubic"):
        Network(2, 4, "cubic")
    with pytest.raises(sl.InputError, match="rate="):
        Adam(rate=0.0)


def test_a_transformer_without_torch_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(record_of_network, "find_spec", lambda _: None)
    with pytest.raises(
        sl.InputError, match=r"network=transformer: needs torch; pip install 'sparselaw\[torch\]'"
    ):
        Network(2, 8, "transformer")


def test_a_transformer_learns_facts_alone(monkeypatch):
    monkeypatch.setattr(record_of_network, "find_spec", lambda _: True)
    with pytest.raises(sl.InputError, match="network=transformer"):
        Task(inputs=SMALL, N=8, D=10, network=Network(2, 8, "transformer"))


@pytest.mark.slow
def test_a_transformer_memorises_what_it_sees():
    pytest.importorskip("torch", reason="the extra torch is not installed")
    tokens = SparseInputs(alpha1=1.0, alpha2=-1.0)
    settings = {"inputs": tokens, "target": "facts", "outputs": 8, "D": 250, "N": 32}
    record = record_of(network=Network(2, 32, "transformer"), **settings)
    assert record.status == "ok"
    assert 1.0 <= record.loss / record.control < 2.5
    assert record == record_of(network=Network(2, 32, "transformer"), **settings)
