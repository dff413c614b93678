"""SGD over nonzeros: the same run as over dense rows, and the same bytes as the plain loop."""

import numpy as np
import pytest
from scipy import sparse

from sparselaw.solvers import SGD
from sparselaw.solvers import sgd as mixed
from sparselaw.solvers.sgd import MixedRows, default_step, mixed_pass

sgd = SGD.solve_samples


def drawn(n=23, width=9, patterns=40, targets=2, seed=3):
    rng = np.random.default_rng(seed)
    active = rng.random((patterns, n)) < np.arange(1.0, n + 1.0) ** -1.2
    active[:, 0] = True
    samples = sparse.csr_array(active * rng.standard_normal((patterns, n)))
    mixing = rng.standard_normal((width, n)) / np.sqrt(width)
    counts = rng.integers(1, 5, patterns)
    return MixedRows(samples=samples, mixing=mixing), rng.standard_normal((patterns, targets)), counts


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(mixed, "ENOUGH", -1e18)
    monkeypatch.setattr(mixed, "SLOWER", 0.0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("batch", [1, 7, 1000])
@pytest.mark.parametrize("own_targets", [False, True])
def test_same_run_as_dense_rows(batch, own_targets):
    rows, targets, counts = drawn()
    assert rows.worth_it(1, counts)
    assert 0 < rows.hot(counts)[0] < 23  # both kinds of coordinates occur
    if own_targets:
        targets = np.random.default_rng(8).standard_normal((counts.sum(), 2))
    settings = SGD(passes=5, step=0.05, batch=batch)
    fast = sgd(settings, rows, targets, np.random.default_rng(1), counts)
    slow = sgd(settings, rows.dense(), targets, np.random.default_rng(1), counts)
    np.testing.assert_allclose(fast.coefficients, slow.coefficients, rtol=1e-10, atol=1e-13)
    assert (fast.iterations, fast.status) == (slow.iterations, slow.status)


def test_same_bytes_as_the_plain_loop():
    rows, targets, _ = drawn()
    inner = np.ascontiguousarray(rows.mixing.T @ rows.mixing)
    order = np.random.default_rng(2).permutation(40)
    states = []
    for loop in (mixed_pass.fast, mixed_pass.plain):
        weights, fits, csr = np.zeros((2, 23)), np.zeros((2, 4)), rows.samples
        loop(weights, fits, inner, csr.indptr, csr.indices, csr.data, targets, order, order, 0.1, 3)
        states.append((weights.tobytes(), fits.tobytes()))
        # What is kept up to date is W m.
        np.testing.assert_allclose(fits, (weights @ inner)[:, :4], rtol=1e-9, atol=1e-12)
    assert states[0] == states[1]


@pytest.mark.usefixtures("always")
def test_the_step_without_one():
    rows, targets, counts = drawn()
    assert default_step(rows, counts) == pytest.approx(default_step(rows.dense(), counts), rel=1e-12)
    fast = sgd(SGD(passes=2), rows, targets, np.random.default_rng(1), counts)
    slow = sgd(SGD(passes=2), rows.dense(), targets, np.random.default_rng(1), counts)
    np.testing.assert_allclose(fast.coefficients, slow.coefficients, rtol=1e-10, atol=1e-13)


@pytest.mark.usefixtures("always")
def test_divergence_is_seen():
    rows, targets, counts = drawn()
    with np.errstate(all="ignore"):
        assert (
            sgd(SGD(passes=400, step=50.0), rows, targets, np.random.default_rng(1), counts).status
            == "diverged"
        )


def test_small_runs_take_dense_rows():
    rows, _, counts = drawn()
    assert not rows.worth_it(1, counts)
