"""Momentum: the loss of gradient descent and SGD with it, predicted and simulated.

    python benchmarks/momentum_against_runs.py [seeds] | python docs/quote_results.py --keep momentum

About a minute with 200 seeds on one core.
"""

from __future__ import annotations

import sys

from sparselaw import SGD, GradientDescent, SparseInputs, predict, simulate

# alpha1, alpha2, N, D, solver, label noise
CELLS = (
    (1, 0.3, 64, 2000, GradientDescent(steps=20, step=0.5, momentum=0.9), 0),
    (1, 0.3, 64, 2000, GradientDescent(steps=200, step=0.5, momentum=0.9), 0),
    (1, 0.3, 64, 2000, GradientDescent(steps=2000, step=1.5, momentum=0.9), 0.05),
    (0.5, 0.5, 100, 1000, GradientDescent(steps=60, step=2.0, momentum=0.5), 0.02),
    (2, 0, 40, 3000, GradientDescent(steps=1000, step=0.3, momentum=0.98), 0),
    (1.5, -0.5, 10**9, 2000, GradientDescent(steps=300, step=1.0, momentum=0.95), 0.1),
    (1, 0.3, 64, 1000, SGD(passes=16, step=0.03, momentum=0.9), 0),
    (1, 0.3, 10**9, 1000, SGD(passes=8, step=0.05, momentum=0.9), 0),
    (1, 0.3, 64, 2000, SGD(passes=1, step=0.05, momentum=0.9), 0),
    (0.5, 0.5, 64, 1000, SGD(passes=8, step=0.2, batch=8, momentum=0.9), 0.02),
    (2, 0, 40, 2000, SGD(passes=64, step=0.5, batch=32, momentum=0.9), 0),
    (1.5, -0.5, 50, 1000, SGD(passes=4, step=0.15, batch=4, momentum=0.5), 0),
)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| alpha1, alpha2 | N | D | solver | noise | simulated | predicted | error |")
    print("|---|---|---|---|---|---|---|---|")
    for alpha1, alpha2, N, D, solver, noise in CELLS:
        inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
        runs = simulate(inputs, N=N, D=D, seeds=seeds, solver=solver, noise=noise, workers=1)["loss"]
        point = predict(inputs, N=N, D=D, solver=solver, noise=noise)
        mean, error = runs.mean(), runs.sem()
        far = abs(point.loss - mean) > max(0.03 * mean, 2.0 * error)
        marks = (" *" if far else "") + (" (caution)" if point.caution else "")
        name = str(solver).replace("GradientDescent", "GD").replace("batch=1, ", "")
        print(
            f"| {alpha1:g}, {alpha2:g} | {'10^9' if N == 10**9 else N} | {D:,} | {name} | {noise:g} | "
            f"{mean:.3g} ± {100 * error / mean:.1f} % | {point.loss:.3g} | "
            f"{100 * (point.loss / mean - 1.0):+.1f} %{marks} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
