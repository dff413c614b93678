"""
A forecast
==========

**What will a larger run reach?** What the runs say of larger budgets, with an interval that knows the law is
a little wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

import sparselaw as sl

rng = np.random.default_rng(0)
N = np.repeat(np.geomspace(1e7, 1e9, 5), 6)
D = N * np.tile(np.geomspace(5, 160, 6), 5)
loss = (1.8 + 480 * N**-0.35 + 2100 * D**-0.37) * np.exp(0.004 * rng.normal(size=N.size))
forecast = sl.forecast({"N": N, "D": D, "loss": loss}, at=[(3e9, 6e10), (1e10, 2e11)])
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
sl.plot.forecast_fan(forecast, ax=ax)
plt.show()
