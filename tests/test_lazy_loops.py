"""Compiled loops and the same loops in plain Python: the same bits, and numba only where it pays."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sparselaw.compiled import Kernel, lazy_njit
from sparselaw.data.scaled_gram import scaled_gram, solve, upper_factor
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs
from sparselaw.trials.run import run
from sparselaw.trials.task import Task


@lazy_njit()
def _twice(x):
    return 2.0 * x


@lazy_njit()
def _twice_the_sum(values):
    total = 0.0
    for value in values:
        total += _twice(value)
    return total


@pytest.fixture
def plain(monkeypatch):
    """As in a program that has just started, with more free steps than it needs."""
    monkeypatch.setattr(Kernel, "_loaded", False)
    monkeypatch.setattr(Kernel, "_steps_left", 10**9)


def test_helpers_go_the_same_way():
    values = np.array([0.1, 0.2, 0.3])
    assert _twice_the_sum.plain.__globals__["_twice"] is _twice.plain
    assert _twice_the_sum.fast.py_func.__globals__["_twice"] is _twice.fast
    assert _twice_the_sum(values) == _twice_the_sum.plain(values) == 2 * (0.1 + 0.2 + 0.3)


def test_plain_until_the_free_steps_are_spent(monkeypatch):
    monkeypatch.setattr(Kernel, "_loaded", False)
    monkeypatch.setattr(Kernel, "_steps_left", 100)
    assert _twice.after(60) is _twice.plain
    assert _twice.after(60) is _twice.fast
    assert _twice.after(40) is _twice.plain
    assert _twice.after(1) is _twice.fast
    monkeypatch.setattr(Kernel, "_steps_left", 100)
    monkeypatch.setattr(Kernel, "_loaded", True)  # what is loaded is used
    assert _twice.after(1) is _twice.fast


@pytest.mark.parametrize(("alpha1", "D"), [(1.0, 100), (1.0, 5000), (0.3, 60), (0.6, 1000), (3.0, 10)])
@pytest.mark.usefixtures("plain")
def test_the_same_bits_both_ways(monkeypatch, alpha1, D):
    """Of the second moments (with more than 127 coordinates in some), their factor, and systems with it."""
    inputs = SparseInputs(alpha1=alpha1, alpha2=0.3)
    data = draw_sparse(inputs, D, np.random.default_rng(3))
    amplitudes = data.active**-0.65

    def everything():
        gram = scaled_gram(data, amplitudes)
        parts = [gram.correlation.indptr, gram.correlation.indices, gram.correlation.data]
        triangle = upper_factor(gram.correlation, gram.length, 1e-12)
        if triangle is None:
            return parts
        right = np.random.default_rng(4).normal(size=(gram.length.size, 3))
        return [
            *parts,
            triangle @ np.eye(triangle.shape[1]),
            solve(triangle, right),
            solve(triangle, right, True),
        ]

    in_python = everything()
    assert not Kernel._loaded
    monkeypatch.setattr(Kernel, "_loaded", True)
    for one, other in zip(in_python, everything(), strict=True):
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())


@pytest.mark.parametrize("N", [3, 12, 200])
@pytest.mark.usefixtures("plain")
def test_the_same_record_both_ways(monkeypatch, N):
    task = Task(inputs=SparseInputs(alpha1=0.8, alpha2=0.3), N=N, D=150)
    in_python = run(task)
    assert not Kernel._loaded
    monkeypatch.setattr(Kernel, "_loaded", True)
    assert repr(run(task)) == repr(in_python)


def test_a_small_simulation_loads_neither_numba_nor_pandas(tmp_path):
    script = """
import sys
from sparselaw.cli.app import _run
assert _run(sys.argv[1:]) == 0
print(sorted({"numba", "pandas", "matplotlib", "distributed", "pyarrow"} & set(sys.modules)))
"""
    words = [
        "simulate",
        "--alpha1=1",
        "--alpha2=0.3",
        "-N",
        "8,40",
        "-D",
        "100",
        "--seeds=2",
        "--json",
        "--store",
    ]
    command = [sys.executable, "-c", script, *words, str(tmp_path / "s.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr
