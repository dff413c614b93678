"""
How N and D are coupled in real runs
====================================

**Are N and D limits of their own?** The coupled law has one number more than a sum of two powers: g, which is
1 for a sum. Real sets of training runs lie on the line of well-regularised training. Points:
``benchmarks/coupling_of_real_runs.py``.
"""

import matplotlib.pyplot as plt
import pandas as pd

from sparselaw.fitting.sparsity import MAP, MAP_ALPHA_N

BELOW = ("marin_comma", "gemstones hot", "gadre rw_original")  # where numbers would overlap
sets = pd.read_csv("../results/coupling.csv")
fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for name, g in MAP.items():
    ax.loglog(MAP_ALPHA_N, g, label=f"theory: {name}")
ax.axhline(1.0, ls=":", color="0.5", label="a sum of two terms")
for number, row in sets.iterrows():
    across = [[row["alpha_best"] - row["alpha_low"]], [row["alpha_high"] - row["alpha_best"]]]
    along = [[row["g_best"] - row["g_low"]], [row["g_high"] - row["g_best"]]]
    ax.errorbar(row["alpha_best"], row["g_best"], along, across, fmt="ko", ms=4, lw=0.8)
    beside = (4, -12) if row["set"] in BELOW else (4, 4)
    ax.annotate(number + 1, (row["alpha_best"], row["g_best"]), beside, textcoords="offset points")
    ax.plot([], [], " ", label=f"{number + 1}: {row['set']}")
for axis in (ax.xaxis, ax.yaxis):
    axis.set_ticks([0.1, 0.2, 0.3, 0.5, 1.0], ["0.1", "0.2", "0.3", "0.5", "1"])
    axis.set_ticks([], minor=True)
ax.set(xlabel="exponent of $N$", ylabel="coupling $g$", xlim=(0.12, 1.1), ylim=(0.1, 1.5))
ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
