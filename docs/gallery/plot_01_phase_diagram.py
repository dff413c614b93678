"""
Regimes
=======

**Which exponents hold?** It depends on how rare features are (alpha1) and how large when active (alpha2).
"""

import matplotlib.pyplot as plt

import sparselaw as sl

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
sl.plot.phase_diagram(ax=ax)
plt.show()
