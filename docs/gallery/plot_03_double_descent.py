"""
The peak
========

**Is a larger model always better?** The loss falls with N, rises to a peak where N meets the number of
coordinates seen, and falls again.
"""

import matplotlib.pyplot as plt
import numpy as np

import sparselaw as sl

model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
D = 4_000
N = np.unique(np.geomspace(8, 4_000, 80).astype(int))
loss = [sl.predict(model, N=int(n), D=D, surface="leading").loss for n in N]
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.loglog(N, loss)
ax.axvline(model.expected_seen(D), color="grey", ls=":", label="K(D), coordinates seen")
ax.set(xlabel="features N", ylabel="loss", title=f"D = {D:,} samples")
ax.legend()
plt.show()
