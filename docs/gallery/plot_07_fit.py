"""
A law over runs
===============

**Which law do my runs follow?** A table of runs, the fitted law, and what it leaves.
"""

import matplotlib.pyplot as plt
import numpy as np

import sparselaw as sl

rng = np.random.default_rng(0)
N = np.repeat(np.geomspace(1e7, 1e9, 5), 6)
D = np.tile(np.geomspace(1e8, 1e11, 6), 5)
loss = (1.8 + 480 * N**-0.35 + 2100 * D**-0.37) * np.exp(0.004 * rng.normal(size=N.size))
law = sl.fit({"N": N, "D": D, "loss": loss}, bootstrap=100)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
sl.plot.fit_over_data(law, ax=left)
sl.plot.residuals(law, ax=right)
plt.show()
