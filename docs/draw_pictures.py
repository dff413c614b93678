"""The two pictures at the head of README and of the site: ``python docs/draw_pictures.py``.

The runs are made up, by a law whose exponents drift slowly with scale as those of real runs do, so that no
law that is fitted here is quite true. The later runs were not seen by the forecast.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

import sparselaw as sl

mpl.use("Agg")
IMAGES = Path(__file__).parent / "images"
NOISE = 0.003
KNOWN, LATER = (1e18, 3e18, 1e19, 3e19, 1e20), (3e20, 1e21, 3e21, 1e22)  # FLOP


def made_runs(budgets: tuple[float, ...], ratios: np.ndarray, seed: int) -> pd.DataFrame:
    """Runs of each budget at these tokens per parameter."""
    rng = np.random.default_rng(seed)
    C = np.repeat(budgets, ratios.size)
    ratio = np.tile(ratios, len(budgets))
    N = np.sqrt(C / (6.0 * ratio))
    D = C / (6.0 * N)
    drift = 0.004 * np.log10(C / 1e19)  # of both exponents, per decade of compute
    loss = 1.7 + (180.0 * N ** -(0.30 - drift)) + (420.0 * D ** -(0.31 - drift))
    return pd.DataFrame({"N": N, "D": D, "loss": loss * np.exp(NOISE * rng.standard_normal(N.size))})


def draw_forecast(known: pd.DataFrame, later: pd.DataFrame) -> str:
    """The forecast's band from the known runs, and the runs that came later."""
    import matplotlib.pyplot as plt

    found = sl.forecast(known, at=[tuple(row) for row in later[["N", "D"]].to_numpy()])
    inside = sum(
        p.loss.low <= loss <= p.loss.high for p, loss in zip(found.points, later["loss"], strict=True)
    )
    with sl.plot.style():
        figure, ax = plt.subplots(figsize=(7.0, 4.2))
        ends = sl.forecast(known, budget=[max(LATER)])
        sl.plot.forecast_fan(ends, ax=ax)
        C = 6.0 * later["N"] * later["D"]
        ax.plot(C, later["loss"], "o", mfc="none", mec="#000000", ms=6, label="runs that came later")
        ax.set_title("Forecast from 40 runs, and what came", fontsize="medium")
        ax.set_ylim(top=1.02 * known["loss"].max())
        ax.legend(loc="upper right", fontsize="small")
        save(figure, "forecast")
    return f"forecast: {inside} of {len(later)} later runs inside 95 %"


def draw_plan(known: pd.DataFrame) -> str:
    """What the runs say of N at three budgets."""
    import matplotlib.pyplot as plt

    plans = [sl.plan(known, budget=budget) for budget in (1e20, 1e21, 1e22)]
    with sl.plot.style():
        figure, ax = plt.subplots(figsize=(7.0, 4.2))
        sl.plot.budget_profiles(plans, ax=ax)
        ax.set_title("The best model for a budget; bars: 95 % intervals of N", fontsize="medium")
        save(figure, "plan")
    return f"plan: N = {plans[-1].N.as_sizes()}"


def save(figure: mpl.figure.Figure, name: str) -> None:
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})


def main() -> None:
    known = made_runs(KNOWN, np.geomspace(2.0, 300.0, 8), seed=3)
    later = made_runs(LATER, np.array([10.0, 20.0, 40.0]), seed=4)
    print(draw_forecast(known, later))
    print(draw_plan(known))


if __name__ == "__main__":
    main()
