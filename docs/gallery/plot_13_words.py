"""
The learning curve of words, and four theories
==============================================

**Which theory describes real features?** Sentences of film reviews: a random teacher on the words of a
sentence, learnt from D sentences. With random signs the cavity prediction is within 1 %. The numbers are
those of ``sparselaw learn review_sentences.npz``.
"""

import matplotlib.pyplot as plt
import pandas as pd

table = pd.read_csv("../results/learn-words.csv")
lines = {"unseen": ":", "sparse": "-.", "cavity": "-", "gaussian": "--"}
names = ("unseen alone", "sparse equivalent", "cavity", "covariance (Gaussian)")
fig, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, what, title in zip(panels, ("measured", "signs"), ("as they are", "random signs"), strict=True):
    for name, (theory, line) in zip(names, lines.items(), strict=True):
        ax.loglog(table["D"], table[theory], line, label=name)
    bars = [table[what] - table[f"{what}_low"], table[f"{what}_high"] - table[what]]
    ax.errorbar(table["D"], table[what], bars, fmt="ko", ms=4, label="measured")
    ax.set(xlabel="training rows $D$", title=title)
ticks = [0.1, 0.2, 0.3, 0.5, 0.8]
panels[0].set(ylabel="loss / variance")
panels[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
panels[0].set_yticks([], minor=True)
panels[0].legend()
plt.show()
