"""The failure probability of inputs without power laws, such as measured ones: exact spike, bulk by drawing.

Any activation with c_j > threshold * D is a failure by itself, so that P(spike) = 1 - prod (1 - p_j)^D over
those j. The rest is seen by drawing data sets and their largest eigenvalue. There is no importance sampling,
which stands on the power laws: what no data set showed is known by an upper limit, and the status says so.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from sparselaw.data.patterns import sign_matrix
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.errors import InputError
from sparselaw.failure.direct import binomial_interval
from sparselaw.failure.failure_point import FailurePoint
from sparselaw.failure.sampling import Progress, Sampled, Sampling
from sparselaw.failure.streams import random_numbers
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.interval import Interval

DRAWN = 2_000  # data sets at most, unless fewer are asked for: each is a matrix and its largest eigenvalue


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
        probability=_both(spike, bulk), replicates=done, failures=float(failed),
        status="few-failures" if few else "ok", reason=_few(seen, done) if few else "",
    )  # fmt: skip


def _few(seen: int, drawn: int) -> str:
    known = "so that only an upper limit of the bulk is known" if seen == 0 else "so that the bulk is wide"
    return (
        f"{seen} of {drawn} data sets failed without a spike, {known}; inputs without power laws have no "
        "importance sampling, which would see rarer ones"
    )


def _both(spike: float, bulk: Interval) -> Interval:
    return Interval(*(spike + (1.0 - spike) * b for b in (bulk.low, bulk.best, bulk.high)))


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
