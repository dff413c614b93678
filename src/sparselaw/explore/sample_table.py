"""A table of runs to try the page with: a known law, a per cent of scatter, and a row that cannot be used."""

from __future__ import annotations

import numpy as np

from sparselaw.laws import ChinchillaLaw

LAW = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)


def sample_csv() -> bytes:
    """params, tokens and val_loss of 48 runs."""
    rng = np.random.default_rng(7)
    lines = ["params,tokens,val_loss"]
    for N in np.geomspace(1e7, 3e9, 8):
        for ratio in (3.0, 10.0, 20.0, 40.0, 80.0, 160.0):
            D = ratio * N
            loss = LAW.loss(N, D) * np.exp(0.006 * rng.standard_normal())
            lines.append(f"{N:.4g},{D:.4g},{loss:.5f}")
    lines.append("1e8,2e9,nan")
    return ("\n".join(lines) + "\n").encode()
