r"""How often does the interval of a plan's N hold the best one? Simulated runs of laws that are known.

    python benchmarks/plan_coverage.py [--tables 100] [--bootstrap 50] \
      | python docs/quote_results.py --keep plan-coverage

Truth: the coupled law with g = 0.35, 0.5, 0.7 or 1 (g = 1 is Chinchilla's) and parameters drawn for each
table; runs with 0.5 % of noise. A grid of six N by six D, or six sizes at each of six budgets. Budgets of
10 and 100 times the largest run. The width is the high end over the low one, `off` the median of
|ln N - ln best N|, regret what the planned N costs in loss. `inside` of Chinchilla's law is by its bootstrap.
"""

from __future__ import annotations

import argparse

import numpy as np

from sparselaw.costs import parse_cost
from sparselaw.fitting import fit
from sparselaw.forecasting import known_runs, prepare
from sparselaw.laws import CoupledLaw
from sparselaw.planning import allocate, plan
from sparselaw.planning.from_runs import runs_source

COUPLINGS = (0.35, 0.5, 0.7, 1.0)
DESIGNS = ("grid", "isoFLOP")
TIMES = (10.0, 100.0)
NOISE = 0.005


def truth_of(g: float, generator: np.random.Generator) -> CoupledLaw:
    """Exponents about 0.3, a floor about 1.7, both terms about equal at 20 tokens for each parameter."""
    alpha, beta = np.exp(generator.normal(np.log(0.32), 0.25, 2))
    A = np.exp(alpha * np.log(3e8)) * generator.uniform(0.5, 1.5)
    B = np.exp(beta * np.log(6e9)) * generator.uniform(0.5, 1.5)
    return CoupledLaw(E=generator.uniform(1.4, 2.0), A=A, B=B, alpha=alpha, beta=beta, g=g)


def runs_of(law: CoupledLaw, design: str, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """N and D of the runs."""
    if design == "grid":
        N, D = np.meshgrid(np.geomspace(3e7, 1e9, 6), np.geomspace(1e9, 3e10, 6))
        return N.ravel(), D.ravel()
    C = np.repeat(np.geomspace(1e18, 3e20, 6), 6)
    best = np.array([allocate(law.loss, parse_cost("6nd"), c).best.N for c in C[::6]])
    best *= np.exp(generator.normal(0.0, 0.2, 6))
    N = (best[:, None] * np.geomspace(1 / 4, 4, 6)).ravel()
    return N, C / (6.0 * N)


def one_table(g: float, design: str, seed: int, draws: int) -> list[dict[str, float]]:
    """For each budget: is the best N inside, how wide, how far off, what it costs."""
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(100 * g),))))
    law = truth_of(g, generator)
    N, D = runs_of(law, design, generator)
    loss = law.loss(N, D) * np.exp(NOISE * generator.standard_normal(N.size))
    runs = known_runs(N, D, loss)
    planned = runs_source(prepare(runs))
    fitted = fit({"N": N, "D": D, "loss": loss}, bootstrap=draws) if draws else None
    found = []
    for times in TIMES:
        budget = times * 6.0 * float((N * D).max())
        best = allocate(law.loss, parse_cost("6nd"), budget).best
        answer = plan(planned, budget)
        one = {
            "times": times,
            "inside": float(answer.N.contains(best.N)),
            "width": answer.N.high / answer.N.low,
            "off": abs(np.log(answer.N.best / best.N)),
            "regret": float(law.loss(answer.N.best, answer.D.best)) / best.loss - 1.0,
            "valley": float(answer.valley[0] <= best.N <= answer.valley[1]),
            "law": np.nan,
            "law_off": np.nan,
        }
        if fitted is not None:
            other = plan(fitted, budget)
            one["law"] = float(other.N.contains(best.N))
            one["law_off"] = abs(np.log(other.N.best / best.N))
        found.append(one)
    return found


def measure(g: float, design: str, tables: int, draws: int) -> dict[float, dict[str, np.ndarray]]:
    """By budget: every value of every table."""
    rows = [row for seed in range(tables) for row in one_table(g, design, seed, draws)]
    return {
        times: {key: np.array([r[key] for r in rows if r["times"] == times]) for key in rows[0]}
        for times in TIMES
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--bootstrap", type=int, default=0, help="draws of Chinchilla's law beside")
    options = parser.parse_args()
    print(
        "| g | runs | budget | tables | best N inside 95 % | width | off | regret, mean and worst "
        "| best N in the valley | inside, Chinchilla's law | its off |\n" + "|---" * 11 + "|"
    )
    for g in COUPLINGS:
        for design in DESIGNS:
            for times, v in measure(g, design, options.tables, options.bootstrap).items():
                law = f"{100 * v['law'].mean():.0f} %" if options.bootstrap else "-"
                off = f"{np.median(v['law_off']):.2f}" if options.bootstrap else "-"
                print(
                    f"| {g:g} | {design} | {times:g} x | {options.tables} | {100 * v['inside'].mean():.0f} % "
                    f"| {np.median(v['width']):.1f} | {np.median(v['off']):.2f} "
                    f"| {100 * v['regret'].mean():.2f} %, {100 * v['regret'].max():.2f} % "
                    f"| {100 * v['valley'].mean():.0f} % | {law} | {off} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
