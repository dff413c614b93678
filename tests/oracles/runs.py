"""Naive twins and made-up runs for the tests of fitting and planning."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from sparselaw.laws import ChinchillaLaw, TwoPowerLaw

CHINCHILLA_TRUTH = ChinchillaLaw(E=1.8172, A=477.8, B=2143.4, alpha=0.3473, beta=0.3672)
TWO_POWER_TRUTH = TwoPowerLaw(A=3e10, B=4e9, alpha_N=1.2, alpha_D=0.95)


def real_runs(name: str) -> Path:
    """A file of the shared runs, or a skip that says what is missing."""
    root = Path(__file__).resolve().parents[2]
    folders = [os.environ.get("SPARSELAW_DATA"), root.parent / "shared" / "data"]
    for folder in folders:
        if folder and (Path(folder) / name).exists():
            return Path(folder) / name
    return pytest.skip(f"{name} is not there: put the shared runs in ../shared/data or set SPARSELAW_DATA")


def chinchilla_rows() -> pd.DataFrame:
    """The 240 rows of the reference: the five highest losses are dropped."""
    frame = pd.read_csv(real_runs("chinchilla/svg_extracted_data.csv"))
    return frame.sort_values("loss", kind="stable").iloc[:-5]


def chinchilla_design(rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """(N, D) shaped like the Chinchilla runs: nine budgets, some 27 model sizes on each."""
    budgets = np.geomspace(6e18, 3e21, 9)
    budget = np.resize(budgets, rows)
    place = (np.arange(rows) // 9 + 0.5) / np.ceil(rows / 9)
    best = 3e8 * (budget / 6e18) ** 0.5
    N = best * np.exp((place - 0.5) * np.log(60.0))
    return N, budget / (6.0 * N)


def noisy_runs(law: object, seed: int, rows: int = 240, noise: float = 0.005) -> pd.DataFrame:
    """Runs of a law with heavy-tailed noise in log loss (Student's t with 4 degrees of freedom)."""
    N, D = chinchilla_design(rows)
    generator = np.random.Generator(np.random.PCG64(seed))
    loss = law.loss(N, D) * np.exp(noise * generator.standard_t(4, rows))
    return pd.DataFrame({"N": N, "D": D, "loss": loss})


def naive_objective(theta, design, delta):
    """The Huber objective over delta, written out with plain arrays."""
    sizes = [size[design.cell] for size in design.sizes]
    with np.errstate(all="ignore"):  # far away, where a coefficient is infinite or zero
        eta = np.log(design.law_at(theta).loss(*sizes)) - np.log(design.middle["loss"])
        z = np.abs(design.log_loss - np.where(np.isfinite(eta), eta, 1e3)) * design.inverse_scale
    if np.isinf(delta):
        return float(np.sum(0.5 * z**2))
    return float(np.sum(np.where(z <= delta, 0.5 * z**2 / delta, z - 0.5 * delta)))


def many_starts(design, delta, starts: int, seed: int = 0) -> tuple[np.ndarray, float]:
    """The lowest of many tight Nelder-Mead and L-BFGS-B runs from random starts: slow and independent."""
    generator = np.random.Generator(np.random.PCG64(seed))
    best, value = np.zeros(design.lower.size), np.inf
    for _ in range(starts):
        start = np.where(design.lower < -1.0, generator.normal(-1.0, 1.0, best.size), 0.0)
        start = np.where(design.lower > -1.0, generator.uniform(0.1, 1.5, best.size), start)
        found = minimize(
            naive_objective, start, (design, delta), method="L-BFGS-B",
            bounds=list(zip(design.lower, design.upper, strict=True)),
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 2000, "maxfun": 20000},
        )  # fmt: skip
        if found.fun < value * 1.01:
            found = minimize(
                naive_objective, found.x, (design, delta), method="Nelder-Mead",
                options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 6000, "maxfev": 6000},
            )  # fmt: skip
        if found.fun < value:
            best, value = found.x, float(found.fun)
    return best, value
