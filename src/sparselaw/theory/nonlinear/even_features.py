"""Even features, such as |u x|: they hold nothing of a linear target, at any width and on any data.

A readout g of them is even and the target y odd, so that E (y - g)^2 = E y^2 + E g^2: the loss is never below
the whole variance of the inputs. Trained on D samples the readout fits what is noise to it, y having either
sign: for N far below the rank that adds about the share N/(D - N), as for noise of the same variance.
"""

from __future__ import annotations

import math

from sparselaw.inputs import Inputs

CAUTION = "even features hold nothing of a linear target"
CLOSE = 0.5  # of N over the rank: from there on the readout of noise has no theory here
AT_LEAST = 0.5  # relative error there: what simulation has above the variance
HEAVY = 0.5  # of the noise that is fitted: samples with much leverage have a large variance too


def even_loss(inputs: Inputs, N: float, D: float, rank: float) -> tuple[float, float, list[str]]:
    """The loss, its relative error, and what to say."""
    total = inputs.variance_sums(1.0).total()
    if N > CLOSE * rank or math.isinf(N):
        return total, AT_LEAST, [f"{CAUTION}: the loss is at least their variance, and here some tenths more"]
    noise = N / (D - N)
    return total * (1.0 + noise), HEAVY * noise, [f"{CAUTION}: their variance is left, and fitted noise"]
