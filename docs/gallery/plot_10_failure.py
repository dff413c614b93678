"""
When gradient descent diverges
==============================

**How often does a fixed step diverge?** Rare but large activations: the probability of divergence falls as a
power of the number of samples.
"""

import matplotlib.pyplot as plt

import sparselaw as sl

model = sl.SparseInputs(alpha1=1.5, alpha2=-2.0)
curve = sl.failure_probability(model, D=[30, 100, 300, 1_000, 3_000], threshold=2.0)
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
sl.plot.failure_curve(curve.points, ax=ax, nu=curve.nu)
plt.show()
