"""Does the worth of repeated data decay more slowly where there are more unique data?

The theory has R_D ~ U^x, x = (alpha2+1)/(alpha1+1) > 0: a pass over more samples wears out later. Here the
data-constrained law is fitted to the runs of datablations with R_D = R (U/10^9)^x, x free; the interval of x
is that of a bootstrap over the runs.

    python benchmarks/repeats_decay_with_data.py path/to/datablations_c4_runs.csv [draws]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from sparselaw.laws import DataConstrainedLaw

START = np.array([0.6, 6.0, 7.0, 0.35, 0.35, 1.6, 2.7, 0.0])  # ln E, ln A, ln B, alpha, beta, ln R_N, ln R, x


def predicted(theta: np.ndarray, N: np.ndarray, D: np.ndarray, U: np.ndarray) -> np.ndarray:
    """The law with its own R_D at every U."""
    log_E, log_A, log_B, alpha, beta, log_R_N, log_R, x = theta
    R_D = np.exp(np.clip(log_R + x * np.log(U / 1e9), -3.0, 12.0))
    law = DataConstrainedLaw(
        E=float(np.exp(log_E)), A=float(np.exp(log_A)), B=float(np.exp(log_B)), alpha=float(alpha),
        beta=float(beta), R_N=float(np.exp(log_R_N)), R_D=1.0,
    )  # fmt: skip
    worth = U * (1.0 - R_D * np.expm1(-(D / U - 1.0) / R_D))
    return law.E + law.A * law.effective_size(N, U) ** -law.alpha + law.B * worth**-law.beta


def fitted(rows: pd.DataFrame, start: np.ndarray, *, free: bool) -> tuple[np.ndarray, float]:
    """Parameters and the robust misfit (soft L1 at 1 % in log loss)."""
    N, D, loss = (rows[name].to_numpy(float) for name in ("N", "D", "loss"))
    U = np.minimum(rows["U"].to_numpy(float), D)
    places = slice(None) if free else slice(0, 7)

    def misfit(part: np.ndarray) -> np.ndarray:
        theta = START.copy()
        theta[:] = 0.0
        theta[places] = part
        return np.log(np.maximum(predicted(theta, N, D, U), 1e-3)) - np.log(loss)

    found = least_squares(misfit, start[places], loss="soft_l1", f_scale=0.01, x_scale=0.1, max_nfev=400)
    theta = np.zeros(8)
    theta[places] = found.x
    return theta, float(found.cost)


def main() -> None:
    rows = pd.read_csv(sys.argv[1])
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    fed = rows[rows["N"] <= rows["U"] / 4.0]
    named = {"all runs": rows, "of the published fit": rows[rows["in_182_fit"] == 1], "N <= U/4": fed}
    for name, part in named.items():
        best, cost = fitted(part, START, free=True)
        plain, plain_cost = fitted(part, START, free=False)
        rng = np.random.Generator(np.random.PCG64(0))
        drawn = []
        for _ in range(draws):
            sample = part.iloc[rng.integers(0, len(part), len(part))]
            drawn.append(fitted(sample, best, free=True)[0][7])
        low, high = np.percentile(drawn, [2.5, 97.5])
        unique = np.log10(part["U"].to_numpy(float))
        print(
            f"{name}: {len(part)} runs, U = 10^{unique.min():.1f} to 10^{unique.max():.1f}; R_D ~ U^x, "
            f"x = {best[7]:.2f} [{low:.2f}, {high:.2f}], R_D at 10^9 = {np.exp(best[6]):.1f}; "
            f"constant R_D = {np.exp(plain[6]):.1f}, misfit {plain_cost / cost - 1.0:+.1%} against x free"
        )


if __name__ == "__main__":
    main()
