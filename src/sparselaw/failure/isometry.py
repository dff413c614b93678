"""The full model at finite N: when does u act on the data like an isometry?

Gradient descent on features u x is unstable when lambda_max(u X X^T u^T / D) > threshold; the failure law
replaces u^T u by the identity. Only the columns of u for the K coordinates seen matter, and for N >= K only
u_A^T u_A ~ Wishart(N, I/N), drawn as L L^T with L triangular (Bartlett): N may be as large as one likes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_size
from sparselaw.failure.direct import binomial_interval
from sparselaw.failure.draw import DataLaw, Space, data_law, draw_data, work_space
from sparselaw.failure.sampling import check_threshold, random_numbers
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval, drawn_interval
from sparselaw.theory.failure_law import spike_index

MOST_SEEN = 4000
LARGEST_N = 2**63 - 1  # a whole number of the machine


@dataclass(frozen=True, slots=True, kw_only=True)
class IsometryPoint:
    """The same data with and without the embedding.

    ``ratio`` holds the 2.5 %, 50 % and 97.5 % points of lambda_max(full) / lambda_max(data); isometry: 1.
    """

    N: int
    D: int
    threshold: float
    replicates: int
    data: Interval  # P(lambda_max(X X^T / D) > threshold)
    full: Interval  # P(lambda_max(u X X^T u^T / D) > threshold)
    ratio: Interval
    seen: float  # mean of K

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        intervals = {"full": self.full.as_dict(), "data": self.data.as_dict(), "ratio": self.ratio.as_dict()}
        return {"N": self.N, "D": self.D, **intervals, "seen": self.seen, "replicates": self.replicates}


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
    threshold = check_threshold(threshold)
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
    L = np.tril(rng.standard_normal((K, K)), -1)
    L[np.diag_indices(K)] = np.sqrt(rng.chisquare(N - np.arange(K)))
    return float(np.linalg.eigvalsh(L.T @ G @ L)[-1]) / N


def _gram(law: DataLaw, space: Space, rng: np.random.Generator) -> FloatArray:
    """X X^T of the coordinates seen, coordinate 1 first."""
    from scipy.sparse import csr_array

    size, squared, count, _ = draw_data(rng, law, space)
    K = int((count > 0).sum())
    if K > MOST_SEEN:
        raise InputError(
            "D", law.D, f"{K} coordinates were seen: too many for the full model", "choose a smaller D"
        )
    place = np.cumsum(count > 0)  # coordinate 1 takes place 0
    rows = np.concatenate([np.zeros(law.D, np.int64), place[space.coordinate[:size]]])
    columns = np.concatenate([np.arange(law.D), space.sample[:size]])
    values = np.concatenate([np.ones(law.D), space.sign[:size] * np.sqrt(squared[space.coordinate[:size]])])
    X = csr_array((values, (rows, columns)), shape=(K + 1, law.D))
    return np.asarray((X @ X.T).toarray())
