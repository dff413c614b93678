"""
Theory and simulation
=====================

**Does the theory hold?** Twenty seeds at each size, on the curve that was not fitted to them.
"""

import matplotlib.pyplot as plt

import sparselaw as sl
from sparselaw.interval import Z95

model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
sizes = [8, 16, 32, 64]
runs = sl.simulate(model, N=sizes, D=20_000, seeds=20)
cells = runs.groupby("N")["loss"].agg(["mean", "sem"])
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.errorbar(cells.index, cells["mean"], Z95 * cells["sem"], fmt="o", label="simulated")
ax.loglog(sizes, [sl.predict(model, N=N, D=20_000).loss for N in sizes], label="closed form")
ax.set(xlabel="features N", ylabel="loss", title="D = 20,000 samples")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
