"""Direct sampling: draw data sets, count those whose largest eigenvalue is above the threshold.

For power laws the loop over data sets is compiled; it stops at the failure that was asked for.

Inputs without power laws, such as measured ones, have a sampler of their own (``table_point``). Any
activation with c_j > threshold * D is a failure by itself, so that P(spike) = 1 - prod (1 - p_j)^D over those
j. The rest is seen by drawing data sets and their largest eigenvalue. There is no importance sampling, which
stands on the power laws: what no data set showed is known by an upper limit, and the status says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sparselaw.compiled import njit
from sparselaw.data.sparse_samples import draw_sparse, sign_matrix
from sparselaw.errors import InputError
from sparselaw.failure.divergence import exceeds
from sparselaw.failure.draw import (
    DataLaw,
    Entries,
    Space,
    add_rare,
    data_sets_at_a_time,
    draw_common,
    draw_rare,
    work_space,
)
from sparselaw.failure.failure_curve import FailurePoint, with_spike
from sparselaw.failure.sampling import Progress, Sampled, Sampling, random_numbers
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.interrupts import ctrl_c_kept
from sparselaw.interval import Interval

DRAWN = 2_000  # data sets at most, unless fewer are asked for: each is a matrix and its largest eigenvalue


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Data sets drawn, those that failed, and those that held a spike."""

    replicates: int
    failures: int
    spikes: int


def sample_directly(
    law: DataLaw,
    threshold: float,
    rng: np.random.Generator,
    *,
    replicates: int,
    failures: int,
    progress: Callable[[int, float, int], None] | None = None,
) -> Counts:
    """Draw until ``failures`` are seen, and no more than ``replicates`` data sets.

    ``progress`` is told the data sets drawn, how many it may become, and the failures among them.
    The last data set drawn is the one that reached ``failures``: the interval of :func:`binomial_interval`
    then covers at least as often as it says.
    """
    space = work_space(law, float(law.active.sum()))
    done = failed = spikes = 0
    at_a_time = data_sets_at_a_time(law)
    while done < replicates and failed < failures:
        todo = min(at_a_time, replicates - done)
        stop = min(failures - failed, todo + 1)  # a whole number of the machine; beyond todo is never
        with ctrl_c_kept():
            drawn, bad, spiked = count_failures(rng, law, space, threshold * law.D, todo, stop)
        done, failed, spikes = done + drawn, failed + bad, spikes + spiked
        if progress is not None:
            all_of_them = done * failures >= replicates * failed
            progress(done, replicates if all_of_them else done * failures / failed, failed)
    return Counts(replicates=done, failures=failed, spikes=spikes)


@njit()
def count_failures(  # type: ignore[no-untyped-def]
    rng: np.random.Generator, law: DataLaw, space: Space, T: float, replicates: int, stop: int
):
    """Data sets drawn, failures and spikes; stops after ``stop`` failures."""
    room, common = len(space.sample), len(law.active)
    common_count = np.zeros(common, np.int64)
    failed = spikes = 0
    for drawn in range(replicates):
        size = np.int64(0)  # a plain 0 would be a type of its own, and all below compiled twice
        spiked = False
        for k in range(common):
            half = 0.5 * law.active[k]
            before = size
            size, _, _ = draw_common(rng, law.D, k, half, half, space, size, room)
            common_count[k] = size - before
            spiked = spiked or (size > before and k + 2 > law.spike_index)
        j, i = draw_rare(rng, law.D, law.rare)
        for e in range(len(j)):
            spiked = spiked or j[e] > law.spike_index
        bad = spiked  # c_j > T alone on the diagonal: no matrix is needed
        if not spiked:
            size, squared, count, _ = add_rare(
                rng, j, i, law.growth, space, size, room, law.squared, common_count
            )
            data = Entries(size, law.D, space.sample, space.coordinate, space.sign, squared, count)
            bad = exceeds(data, T, space.first, space.singles)
        spikes += spiked
        failed += bad
        if failed == stop:
            return drawn + 1, failed, spikes
    return replicates, failed, spikes


def binomial_interval(failures: int, replicates: int) -> Interval:
    """Clopper and Pearson's exact 95 % interval; [0, 1] where nothing was drawn.

    >>> print(binomial_interval(1, 3000))
    0.0003333 [8.439e-06, 0.001856]
    """
    from scipy.special import betaincinv

    if replicates == 0:
        return Interval(0.0, 0.0, 1.0)
    rest = replicates - failures
    low = float(betaincinv(failures, rest + 1, 0.025)) if failures else 0.0
    high = float(betaincinv(failures + 1, rest, 0.975)) if rest else 1.0
    return Interval(low, failures / replicates, high)


def table_point(
    inputs: Inputs, D: int, threshold: float, sampling: Sampling, progress: Progress | None = None
) -> FailurePoint:
    """P(lambda_max(X X^T / D) > threshold) at one D."""
    if inputs.sampling != "activations":
        raise InputError("inputs", inputs.kind, "have no rare activations", "give sparse or measured inputs")
    if sampling.method == "importance":
        raise InputError(
            "method",
            "importance",
            "needs the power laws of SparseInputs",
            "choose auto, direct or exact-spike",
        )
    active = cast(ActivationInputs, inputs)
    weight, p, c = active.pair_nodes(float(D))
    alone = c > threshold * D
    with np.errstate(divide="ignore"):
        spike = -math.expm1(float(D * (weight[alone] @ np.log1p(-p[alone])))) if alone.any() else 0.0
    if sampling.method == "exact-spike" or spike >= 1.0:
        known = spike >= 1.0
        bulk = Interval(0.0, 0.0, 1.0)
        return FailurePoint(
            D=D, threshold=threshold, spike=spike, bulk=bulk, method="exact-spike", spike_index=math.inf,
            probability=Interval(spike, spike, 1.0), replicates=0, failures=0.0,
            status="ok" if known else "bulk-not-sampled", reason="" if known else "as asked",
        )  # fmt: skip
    rng = random_numbers(sampling.seed, D, "direct")
    most, failed, spiked, done = min(sampling.replicates, DRAWN), 0, 0, 0
    while done < most and failed < sampling.wanted:
        data = draw_sparse(active, D, rng)
        size = active.squared_amplitudes(data.active)
        lone = bool((size > threshold * D).any())
        above = lone or _largest(data, np.sqrt(size)) > threshold * D
        done, failed, spiked = done + 1, failed + above, spiked + lone
        if progress is not None:
            progress(Sampled(D=D, method="direct", done=done, total=most, failures=failed))
    seen = failed - spiked
    bulk = binomial_interval(seen, max(done - spiked, 1))
    few = failed < sampling.wanted
    return FailurePoint(
        D=D, threshold=threshold, spike=spike, bulk=bulk, method="direct", spike_index=math.inf,
        probability=with_spike(spike, bulk), replicates=done, failures=float(failed),
        status="few-failures" if few else "ok", reason=_few(seen, done) if few else "",
    )  # fmt: skip


def _few(seen: int, drawn: int) -> str:
    known = "so that only an upper limit of the bulk is known" if seen == 0 else "so that the bulk is wide"
    return (
        f"{seen} of {drawn} data sets failed without a spike, {known}; inputs without power laws have no "
        "importance sampling, which would see rarer ones"
    )


def _largest(data: Any, amplitudes: np.ndarray) -> float:
    """lambda_max of X X^T."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import svds

    if not data.active.size:
        return 0.0
    x = diags_array(amplitudes) @ sign_matrix(data).astype(np.float64)
    if min(x.shape) <= 8:
        return float(np.linalg.norm(x.toarray(), 2) ** 2)
    start = np.ones(min(x.shape))
    return float(svds(x, k=1, return_singular_vectors=False, v0=start, tol=1e-7)[0] ** 2)
