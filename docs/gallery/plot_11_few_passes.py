"""
From few passes to the end
==========================

**How many passes are enough?** The loss of SGD after P passes over D samples, rescaled, is one function of
pi = eps P D^-x: few passes hide sparsity, many show it. Points are simulated (``sparselaw reproduce
beyond-passes``), lines are the theory.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparselaw as sl
from sparselaw.theory.training.passes import crossover, few_pass_exponent, local_exponent

PI = r"$\pi = \epsilon P D^{-x}$"
inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
runs = pd.read_csv("../results/beyond-passes.csv").query("part == 'crossover'")
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
pi = np.geomspace(3e-4, 40, 60)
left.loglog(pi, [crossover(inputs, x) for x in pi], "k--", label="theory, without minibatch noise")
for D, rows in runs.groupby("D"):
    scale = D**inputs.exponents.alpha_D
    bars = scale * np.array([rows["loss"] - rows["low"], rows["high"] - rows["loss"]])
    left.errorbar(rows["pi"], scale * rows["loss"], bars, fmt="o", ms=4, label=f"$D$ = {D:,}")
left.set(xlabel=PI, ylabel=r"loss $\cdot\,D^{\alpha_D}$", title="one curve for all $D$ and $P$")
left.legend(fontsize="small")
right.semilogx(pi, [local_exponent(inputs, x) for x in pi], "k")
for level, words in ((few_pass_exponent(inputs), "few passes"), (inputs.exponents.alpha_D, "to the end")):
    right.axhline(level, ls=":", color="0.5")
    right.annotate(words, (40, level), (0, 2), textcoords="offset points", ha="right")
right.set(xlabel=PI, ylabel="local exponent of $D$", title="a smooth crossover", ylim=(0.65, 1.22))
plt.show()
