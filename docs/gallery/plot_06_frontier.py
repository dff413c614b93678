"""
The compute-optimal frontier
============================

**What is the best loss for a budget?** Loss against compute for several model sizes, and the best that any of
them reaches.
"""

import matplotlib.pyplot as plt

import sparselaw as sl

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
sl.plot.compute_frontier(sl.SparseInputs(alpha1=1.0, alpha2=0.3), N=[16, 64, 256, 1024], ax=ax)
plt.show()
