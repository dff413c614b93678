"""The population loss in plain numpy: drawn activations, drawn embeddings, one solve a data set."""

from __future__ import annotations

import numpy as np


def power(alpha1, alpha2, dimension):
    j = np.arange(1.0, dimension + 1.0)
    return j ** -(alpha1 + 1.0), j ** -(alpha2 + 1.0)


def simulated(p, c, D, N, runs, *, ridge=0.0, noise=0.0, seed=0):
    """The mean over ``runs`` data sets and embeddings, teachers averaged over, and its error."""
    rng, s, losses = np.random.default_rng(seed), p * c, []
    for _ in range(runs):
        X = (
            (rng.random((p.size, D)) < p[:, None])
            * rng.choice([-1.0, 1.0], (p.size, D))
            * np.sqrt(c)[:, None]
        )
        active = X.any(axis=1)
        A = X[active]
        u = rng.normal(size=(N, int(active.sum()))) / np.sqrt(N)
        U, values, V = np.linalg.svd(u @ A, full_matrices=False)
        kept = values > 1e-10 * values[0]
        inverse = np.where(kept, values / np.where(kept, values**2 + ridge, 1.0), 0.0)
        T = (U * inverse) @ V @ A.T
        missed = np.eye(A.shape[0]) - u.T @ T
        unseen = float(s[~active].sum())
        loss = float((s[active][:, None] * missed**2).sum()) + (1.0 + float((T**2).sum()) / N) * unseen
        if noise > 0.0:
            B = U * inverse
            loss += noise * (
                float((s[active][:, None] * (u.T @ B) ** 2).sum()) + float((B**2).sum()) / N * unseen
            )
        losses.append(loss)
    found = np.array(losses)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(runs))
