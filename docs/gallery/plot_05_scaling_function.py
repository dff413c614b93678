"""
One curve for all sizes
=======================

**Do all sizes follow one law?** Multiplied by N^alpha_N, every loss falls on one function of the rescaled
ratio xi.
"""

import matplotlib.pyplot as plt

import sparselaw as sl

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
sl.plot.scaling_curve(sl.SparseInputs(alpha1=1.0, alpha2=0.3), ax=ax)
plt.show()
