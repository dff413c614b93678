"""Several model sizes at once: the law of one size, with E, A, B and c moving with N.

    E(N) = E [1 - f + f (N/N0)^-x],  A, B and c as powers (N/N0)^sA, (N/N0)^sB, (N/N0)^sc

N0 is the middle size. The exponent a (and p, m) is shared. With one or two sizes the priors decide f and x,
which are those of language models: x = 0.3, and three tenths of E at N0 fall with N.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.law import FeatureForm, Form, Track, Units

PRIORS = {
    "ln f": (np.log(0.3), 0.5), "ln x": (np.log(0.3), 0.35),
    "sA": (0.0, 0.1), "sB": (0.05, 0.1), "sc": (0.0, 0.15),
}  # fmt: skip


class SizesForm(Form):
    """A form for curves of several sizes; ``of`` is the law of each."""

    name = "features over sizes"
    formula = FeatureForm.formula + "; E = E0 [1 - f + f (N/N0)^-x]; A, B, c as (N/N0)^sA, sB, sc"

    def __init__(self, of: FeatureForm) -> None:
        self.of = of
        self.names = (*of.names, *PRIORS)

    def priors(self, units: Units) -> tuple[FloatArray, FloatArray]:
        centre, width = self.of.priors(units)
        table = np.array(list(PRIORS.values()))
        return np.concatenate([centre, table[:, 0]]), np.concatenate([width, table[:, 1]])

    def parts(self, theta: FloatArray, points: Track, units: Units) -> tuple[FloatArray, FloatArray]:
        one = theta[: len(self.of.names)].copy()
        ln_f, ln_x, *slopes = theta[len(self.of.names) :].tolist()
        ln_N = np.log(points.N / units.N)
        f = np.exp(ln_f)
        one[0] *= 1.0 - f + f * np.exp(-np.exp(ln_x) * ln_N)
        one[[1, 3, 4]] += np.array(slopes) * ln_N
        return self.of.parts(one, points, units)
