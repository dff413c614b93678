"""Claim: where nu is small, direct sampling, the exact spike law and the theorem's exponent agree, D = 30 to 1e5.

Writes failure_theorem.png beside where it is run when given --plot.
"""

from __future__ import annotations

import sys

import numpy as np

from sparselaw.failure.estimate import failure_points
from sparselaw.failure.exponents import fitted_exponent
from sparselaw.problem import SparseInputs

SIZES = [round(x) for x in np.geomspace(30, 1e5, 8)]
curves = []
for alpha1, alpha2 in ((1.5, -2.0), (2.0, -2.5), (2.5, -3.0)):
    model = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    print(f"alpha1={alpha1} alpha2={alpha2} nu={model.exponents.nu:.4f}")
    points = []
    for p in failure_points(model, SIZES, 2.0, method="direct", failures=200):
        points.append(p)
        mark = "inside" if p.probability.contains(p.spike) else "outside: the bulk shows"
        print(f"  D={p.D:6d}  direct {p.probability}  spike {p.spike:.4g} {mark}", flush=True)
    print(f"  fitted exponent over all D {fitted_exponent(points)}; from D = 100 on {fitted_exponent(points[1:])}")
    curves.append((model, points))

if "--plot" in sys.argv:
    import matplotlib.pyplot as plt

    from sparselaw.plotting.failure import failure_curve

    figure, axes = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
    for ax, (model, points) in zip(axes, curves, strict=True):
        failure_curve(points, ax=ax, nu=model.exponents.nu)
        ax.set_title(f"alpha1 = {model.alpha1}, alpha2 = {model.alpha2}")
    figure.savefig("failure_theorem.png", dpi=110)
