"""A task in, a record out: which trial measures it, what that will need, and the run itself.

A trial is a function of a task that returns a record. Another way of drawing samples (``inputs.sampling``) or
another kind of features (``features.kind``) is another file here and a line in ``TRIALS``. What a trial needs
is said before it starts, within a factor of three or so.
"""

from __future__ import annotations

import functools
import importlib
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from threadpoolctl import ThreadpoolController

from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.errors import InputError
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.task import Record, Task

GIGA = 2.0**30
MEMORY_SHARE = 0.8  # of what is available
ALWAYS_THERE = 2.0**24  # bytes, not worth asking the system for
LONGEST = 7 * 24 * 3600.0
PATTERN_SAMPLES = (1024, 4096)
MOST_SAMPLES = 10**12  # samples: too many for any trial
CROWDED = 1.1  # alpha1 + 1 below which coordinates meet many others, and the Cholesky factor is full
LONG_SAMPLE = 100.0  # nonzeros, at which no two samples are equal
FLOPS = 1e10  # a second, on one core of an ordinary machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    memory: float  # bytes
    seconds: float

    def __str__(self) -> str:
        return f"about {self.memory / GIGA:.3g} GiB and {self.seconds:.3g} s"


def _linear_activations(task: Task) -> Needs:
    inputs = cast(ActivationInputs, task.inputs)
    nonzeros = float(task.D) * inputs.expected_nonzeros()
    pairs = 0.5 * nonzeros * inputs.expected_nonzeros()
    K = inputs.expected_seen(task.D)
    k = min(float(task.N), K)
    memory, seconds = 40.0 * nonzeros, 1e-3 + 5e-8 * nonzeros + 1e-8 * pairs + 1e-8 * K * K
    dense = not inputs.has_power_activations or inputs.power_activations().decay < CROWDED
    one_teacher = task.estimator == "raw" or not task.solver.linear
    seconds += 0.4 * K**3 / FLOPS if dense or one_teacher else 0.0  # pivoting
    rtol = task.solver.rank_tolerance
    if rtol is None or task.estimator == "raw":
        memory += 48.0 * K * (K + k)
        seconds += (10.0 * k + 3.0 * K) * k * K / FLOPS  # an SVD, and a product
    elif task.N <= K + 1:
        memory += 48.0 * K * (K + k if dense else k)
        side = min(k, K - k) if task.noise == 0.0 else k
        # About the condition number of the features: near 1/rtol an SVD decides.
        condition = float(inputs.variances(np.array([k]))[0]) ** -0.5
        svd = condition * rtol > 0.1
        seconds += ((10.0 * k + 3.0 * K) * k if svd else 4.0 * side * side) * K / FLOPS  # or else a QR
    else:
        noisy, short = task.noise > 0.0, _short_rows(inputs, task.D, rtol)
        memory += 48.0 * K * K if noisy or dense else 40.0 * K * short
        seconds += 5.0 * short * short * K / FLOPS  # what the tolerance cuts
        seconds += (6.0 if short > 0.5 else 2.0) * K**3 / FLOPS if noisy else 0.0  # an SVD, or a QR
    if task.solver.by_samples:
        memory += 16.0 * min(float(task.D), nonzeros) * k
    seconds += task.solver.work(float(task.D), k) / FLOPS
    if task.estimator == "raw":
        memory += 70.0 * task.n_test * inputs.expected_nonzeros()
    return Needs(memory=memory, seconds=seconds)


def _short_rows(inputs: ActivationInputs, D: int, rtol: float) -> float:
    """How many rows of the data may well be near the solver's tolerance."""
    if rtol == 0.0:
        return 0.0
    return inputs.nodes(float(D)).seen_below(2.0 * math.log(30.0 * rtol) + math.log(D))


@functools.lru_cache(maxsize=1024)
def expected_patterns(inputs: ActivationInputs, D: int) -> float:
    """Distinct samples among D: a power of D through the counts in 1,024 and in 4,096 drawn samples."""
    if PATTERN_SAMPLES[0] >= D or D > MOST_SAMPLES or inputs.expected_nonzeros() > LONG_SAMPLE:
        return float(D)
    rng = np.random.Generator(np.random.PCG64(0))
    small, large = (
        distinct_patterns(inputs, draw_sparse(inputs, size, rng)).counts.size for size in PATTERN_SAMPLES
    )
    growth = math.log(large / small) / math.log(PATTERN_SAMPLES[1] / PATTERN_SAMPLES[0])
    return min(float(D), large * math.exp(growth * math.log(D / PATTERN_SAMPLES[1])))


def _trained_activations(task: Task) -> Needs:
    inputs = cast(ActivationInputs, task.inputs)
    linear = _linear_activations(replace(task, N=10**15, outputs=1, features="linear"))
    K, m = inputs.expected_seen(task.D), float(task.outputs)
    if task.noise == 0.0 and task.N >= min(K, m):
        return linear
    work = 6.0 * K**3 + 4.0 * m * K * K + 20.0 * m * K * min(m, K)
    return Needs(
        memory=linear.memory + 32.0 * K * (K + m) + 16.0 * m * min(m, K),
        seconds=linear.seconds + work / FLOPS,
    )


def _nonlinear_activations(task: Task) -> Needs:
    inputs = cast(ActivationInputs, task.inputs)
    linear = _linear_activations(task)
    P, K = expected_patterns(inputs, task.D), inputs.expected_seen(task.D)
    N = float(task.N)
    small = min(P, N)
    memory = 24.0 * P * N + 32.0 * small * small + 16.0 * K * (N + P)
    return Needs(
        memory=linear.memory + memory,
        seconds=linear.seconds + (4.0 * P * N * small + 20.0 * small**3 + 2.0 * K * small * N) / FLOPS,
    )


def _nonlinear_gaussian(task: Task) -> Needs:
    N, D, M = float(task.N), float(task.D), finite_dimension(task)
    if min(N, M) > D and task.estimator == "exact":
        tests = 600.0 if task.feature_map.odd_slope is not None else 5000.0
        memory, work = 16.0 * M * D + 16.0 * N * D + 48.0 * D * D, 2.0 * (N + M) * D * D + tests * N * D
    else:
        memory, work = 24.0 * N * M + 48.0 * N * N, 4.0 * N * N * M + 2.0 * N * N * D + 40.0 * N**3
    return Needs(memory=memory + 1e8, seconds=1e-3 + work / FLOPS)


def _linear_gaussian(task: Task) -> Needs:
    M = finite_dimension(task)
    m = float(min(task.N, task.D, M))
    memory, seconds = 120.0 * m * m + 1e8 + 16.0 * M, 1e-3 + (2.0 * M * m * m + 40.0 * m**3) / FLOPS
    if task.estimator == "raw" or not task.solver.linear:
        memory += 32.0 * M * m
        seconds += 6.0 * M * m * m / FLOPS
    if task.solver.rank_tolerance is None:
        seconds += 40.0 * m**3 / FLOPS
    if task.solver.by_samples:
        memory += 32.0 * m * task.D
    seconds += task.solver.work(float(task.D), m) / FLOPS
    return Needs(memory=memory, seconds=seconds)


def finite_dimension(task: Task) -> float:
    return min(task.inputs.dimension, 1e15)


# (how samples are drawn, kind of features) -> the trial, whose file is loaded when it is first used, what it
# needs, and what to reduce where that is too much
TRIALS: dict[tuple[str, str], tuple[str, Callable[[Task], Needs], str]] = {
    ("activations", "linear"): ("linear_trials.sparse", _linear_activations, "reduce D"),
    ("activations", "nonlinear"): ("nonlinear_activations.trial", _nonlinear_activations, "reduce N or D"),
    ("activations", "trained"): ("linear_trials.trained", _trained_activations, "reduce D or outputs"),
    ("gaussian", "linear"): (
        "linear_trials.dense",
        _linear_gaussian,
        "reduce N, D or dimension",
    ),
    ("gaussian", "nonlinear"): (
        "nonlinear_gaussian.trial",
        _nonlinear_gaussian,
        "reduce N, D or dimension",
    ),
}


def _trial_of(task: Task) -> tuple[Callable[[Task], Record], Callable[[Task], Needs], str]:
    """The trial that measures its loss, what that needs, and what to reduce where it is too much."""
    if task.network is not None:
        return task.network.trial, task.network.needs, task.network.remedy
    meeting = (task.inputs.sampling, task.feature_map.kind)
    if meeting not in TRIALS:
        condition = f"has no trial for inputs drawn as {task.inputs.sampling}"
        raise InputError("features", task.features, condition, "choose other features or inputs")
    place, needs, remedy = TRIALS[meeting]
    module, function = place.split(".")
    return getattr(importlib.import_module(f"sparselaw.trials.{module}"), function), needs, remedy


def needs_of(task: Task) -> Needs:
    """Memory and time of the trial of the task; every seed needs the same."""
    return _needs_of(replace(task, seed=0))


@functools.lru_cache(maxsize=65536)
def _needs_of(task: Task) -> Needs:
    return _trial_of(task)[1](task)


def check_fits(task: Task) -> Needs:
    """What the trial needs, or a refusal that says what to reduce."""
    needs, cell, remedy = needs_of(task), f"{task.N} D={task.D}", _trial_of(task)[2]
    limit = MEMORY_SHARE * available_memory() if needs.memory > ALWAYS_THERE else math.inf
    if not needs.memory <= limit:
        raise InputError("N", cell, f"needs {needs}, and {limit / GIGA:.3g} GiB are available", remedy)
    if not needs.seconds <= LONGEST:
        raise InputError("N", cell, f"needs {needs}, more than a week", task.solver.remedy or remedy)
    return needs


def available_memory() -> float:
    """Bytes that a process may still take."""
    from psutil import virtual_memory

    return float(virtual_memory().available)


def run(task: Task) -> Record:
    """One trial. Same task, same bytes; a task that cannot fit in memory is refused before it starts.

    >>> from sparselaw.inputs import SparseInputs
    >>> record = run(Task(inputs=SparseInputs(alpha1=1.0, alpha2=0.3), N=10**12, D=1000))
    >>> record.status, record.averaged
    ('ok', ('teacher', 'test', 'unseen', 'u'))
    """
    task.inputs.check_drawable()
    check_fits(task)
    with one_thread():  # trials are small; what parallelism there is goes to running many of them
        return _trial_of(task)[0](task)


# One thread for linear algebra: sums then round alike whatever the number of cores.

_one_at_a_time = threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, BLAS and LAPACK use one thread.

    The limit belongs to the process. So callers in several threads take turns: one that leaves would take the
    limit from the others.

    >>> import numpy as np
    >>> with one_thread():
    ...     product = np.ones((2, 3)) @ np.ones((3, 1))
    """
    with _one_at_a_time, _controller().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  # its BLAS must be loaded to be found

    return ThreadpoolController()
