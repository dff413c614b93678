"""Direct sampling: draw data sets, count those whose largest eigenvalue is above the threshold.

For power laws the loop over data sets is compiled; it stops at the failure that was asked for.

Inputs without power laws, such as measured ones, have a sampler of their own (``sample_table``). Any
activation with c_j > threshold * D is a failure by itself, so that P(spike) = 1 - prod (1 - p_j)^D over those
j. The rest is seen by drawing data sets and their largest eigenvalue. There is no importance sampling, which
stands on the power laws: what no data set showed is known by an upper limit, and the status says so.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.data.gaussian_span import wishart_root
from sparselaw.data.sparse_samples import SparseData, draw_sparse, sign_matrix
from sparselaw.errors import InputError, check_positive, check_size
from sparselaw.failure.divergence import exceeds
from sparselaw.failure.draw import (
    DataLaw,
    Entries,
    Space,
    data_law,
    data_sets_at_a_time,
    draw_data,
    work_space,
)
from sparselaw.failure.failure_curve import Estimate, IsometryPoint, Report, random_numbers
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.interrupts import ctrl_c_kept
from sparselaw.interval import Interval, drawn_interval
from sparselaw.theory.descent import spike_index

MOST_FROM_TABLE = 2_000  # data sets: each is a matrix and its largest eigenvalue


def sample_directly(
    law: DataLaw,
    threshold: float,
    rng: np.random.Generator,
    *,
    replicates: int,
    failures: int,
    progress: Report | None = None,
) -> Estimate:
    """Draw until ``failures`` are seen, and no more than ``replicates`` data sets.

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
    return _counted(done, failed, spikes)


@njit()
def count_failures(  # type: ignore[no-untyped-def]
    rng: np.random.Generator, law: DataLaw, space: Space, T: float, replicates: int, stop: int
):
    """Data sets drawn, failures and spikes; stops after ``stop`` failures."""
    failed = spikes = 0
    common = len(law.active)
    for drawn in range(replicates):
        size, squared, count, rare_j = draw_data(rng, law, space)
        spiked = False  # c_j > T alone on the diagonal: no matrix is needed
        for k in range(len(count)):
            j = k + 2.0 if k < common else rare_j[k - common]
            spiked = spiked or (count[k] > 0 and j > law.spike_index)
        data = Entries(size, law.D, space.sample, space.coordinate, space.sign, squared, count)
        spikes += spiked
        failed += spiked or exceeds(data, T, space.first, space.singles)
        if failed == stop:
            return drawn + 1, failed, spikes
    return replicates, failed, spikes


def _counted(replicates: int, failures: int, spikes: int) -> Estimate:
    bulk = binomial_interval(failures - spikes, replicates - spikes)
    return Estimate(bulk=bulk, replicates=replicates, failures=failures, spikes=spikes)


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


def table_spike(inputs: ActivationInputs, D: int, threshold: float) -> float:
    """The probability that some activation is a failure by itself."""
    weight, p, c = inputs.pair_nodes(float(D))
    alone = c > threshold * D
    if not alone.any():
        return 0.0
    with np.errstate(divide="ignore"):  # p = 1
        return -math.expm1(float(D * (weight[alone] @ np.log1p(-p[alone]))))


def sample_table(
    inputs: ActivationInputs,
    D: int,
    threshold: float,
    rng: np.random.Generator,
    *,
    replicates: int,
    failures: int,
    progress: Report | None = None,
) -> Estimate:
    """As :func:`sample_directly`, for inputs without power laws; no more than 2,000 data sets."""
    most, done, failed, spikes = min(replicates, MOST_FROM_TABLE), 0, 0, 0
    while done < most and failed < failures:
        data = draw_sparse(inputs, D, rng)
        squared = inputs.squared_amplitudes(data.active)
        alone = bool((squared > threshold * D).any())
        above = alone or _largest(data, np.sqrt(squared)) > threshold * D
        done, failed, spikes = done + 1, failed + above, spikes + alone
        if progress is not None:
            progress(done, most, failed)
    return _counted(done, failed, spikes)


def _largest(data: SparseData, amplitudes: np.ndarray) -> float:
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


# The full model at finite N: when does u act on the data like an isometry?
#
# Gradient descent on features u x is unstable when lambda_max(u X X^T u^T / D) > threshold; the failure law
# replaces u^T u by the identity. Only the columns of u for the K coordinates seen matter, and for N >= K only
# u_A^T u_A ~ Wishart(N, I/N), drawn as L L^T with L triangular (Bartlett): N may be as large as one likes.


MOST_SEEN = 4000
LARGEST_N = 2**63 - 1  # a whole number of the machine


def check_full_size(N: float) -> int:
    """Return ``N`` as a size of the full model."""
    size = check_size("N", N)
    if size > LARGEST_N:
        raise InputError("N", float(size), "is too large for the full model", "choose N <= 9e18")
    return size


def near_isometry(
    inputs: Inputs, N: int, D: int, threshold: float, *, replicates: int = 200, seed: int = 0
) -> IsometryPoint:
    """Largest eigenvalues of the data and of the full model, data set by data set.

    Parameters
    ----------
    inputs : Inputs
        Inputs whose activations follow power laws.
    N, D : int
        Numbers of features and of samples.
    threshold : float
        2 / step size.
    replicates : int
        Data sets drawn.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    IsometryPoint
        Both failure probabilities, and the ratio of the two largest eigenvalues.

    Raises
    ------
    InputError
        Where more than 4,000 coordinates are seen, or a size is not positive.
    """
    N, D, replicates = check_full_size(N), check_size("D", D), check_size("replicates", replicates)
    threshold = check_positive("threshold", threshold)
    law = data_law(inputs, D, spike_index(inputs, D, threshold), inputs.dimension)
    space = work_space(law, float(law.active.sum()))
    rng = random_numbers(seed, D, "isometry")
    data, full, seen = np.empty(replicates), np.empty(replicates), np.empty(replicates)
    for r in range(replicates):
        G = _gram(law, space, rng)
        data[r] = np.linalg.eigvalsh(G)[-1] / D
        full[r] = embedded_top(G, N, rng) / D
        seen[r] = len(G)
    return IsometryPoint(
        N=N,
        D=D,
        threshold=threshold,
        replicates=replicates,
        data=binomial_interval(int((data > threshold).sum()), replicates),
        full=binomial_interval(int((full > threshold).sum()), replicates),
        ratio=drawn_interval(float(np.quantile(full / data, 0.5)), full / data),
        seen=float(seen.mean()),
    )


def embedded_top(G: FloatArray, N: int, rng: np.random.Generator) -> float:
    """lambda_max(u G u^T) for u of N rows with entries N(0, 1/N)."""
    K = len(G)
    if N < K:
        u = rng.standard_normal((N, K))
        return float(np.linalg.eigvalsh(u @ G @ u.T)[-1]) / N
    L = wishart_root(N, K, rng)
    return float(np.linalg.eigvalsh(L.T @ G @ L)[-1]) / N


def _gram(law: DataLaw, space: Space, rng: np.random.Generator) -> FloatArray:
    """X X^T of the coordinates seen, coordinate 1 first."""
    from scipy.sparse import csr_array

    size, squared, count, _ = draw_data(rng, law, space)
    K = int((count > 0).sum())
    if K > MOST_SEEN:
        condition = f"{K} coordinates were seen: too many for the full model"
        raise InputError("D", law.D, condition, "choose a smaller D")
    place = np.cumsum(count > 0)  # coordinate 1 takes place 0
    rows = np.concatenate([np.zeros(law.D, np.int64), place[space.coordinate[:size]]])
    columns = np.concatenate([np.arange(law.D), space.sample[:size]])
    values = np.concatenate([np.ones(law.D), space.sign[:size] * np.sqrt(squared[space.coordinate[:size]])])
    X = csr_array((values, (rows, columns)), shape=(K + 1, law.D))
    return np.asarray((X @ X.T).toarray())
