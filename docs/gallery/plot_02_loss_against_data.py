"""
Data show rare features slowly
==============================

**What do more data buy a large model?** Its loss is the variance of what no sample showed. It falls as
D^-1.15 here, with half the exponent of the model's size.
"""

import matplotlib.pyplot as plt
import numpy as np

import sparselaw as sl

model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
D = np.unique(np.geomspace(10, 1e5, 25).astype(int))
loss = [sl.predict(model, N=100_000, D=int(d), surface="leading").loss for d in D]
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.loglog(D, loss, label="closed form")
ax.loglog(D, model.power_law().data_constant * D**-model.exponents.alpha_D, "--", label="its limit")
ax.set(xlabel="samples D", ylabel="loss", title="N = 100,000 features")
ax.legend()
plt.show()
