"""
The price of a wrong size
=========================

**What does a wrong size cost?** Loss against model size at fixed compute, for two budgets.
"""

import matplotlib.pyplot as plt

import sparselaw as sl

law = sl.ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
plans = [sl.plan(law, budget=budget, cost="6nd") for budget in (1e20, 1e22)]
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
sl.plot.budget_profiles(plans, ax=ax)
plt.show()
