"""Two published laws of loss curves, fitted by the same code and under the same priors, for comparison.

The momentum law (Tissue et al., 2024): the noise follows the rate with an exponential memory, in steps. The
multi-power law (Luo et al., 2025): a power-law memory in tau with an exponent of its own, scaled by a power
of the rate.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.law import COMMON, Form, Track, Units, common_priors, followed, rate_changes


class MomentumForm(Form):
    """Exponential memory in steps of what the rate lost since the warm-up."""

    name = "momentum"
    formula = "L = E + A (tau/tau0)^-a + B sum_j (deta_j/eta0) [1 - exp(-c (t - t_j))]"
    names = (*COMMON, "ln c")

    def priors(self, units: Units) -> tuple[FloatArray, FloatArray]:
        return common_priors({"ln c": (np.log(0.002), 1.2)}, units)

    def parts(self, theta: FloatArray, points: Track, units: Units) -> tuple[FloatArray, FloatArray]:
        E, ln_A, ln_a, ln_B, ln_c = theta.tolist()
        schedule = points.schedule
        felt = rate_changes(schedule, schedule.steps, points.step, points.step)
        later = felt.old[-1] <= points.step[-1] - schedule.warmup  # no change of the warm-up counts
        change = later * (felt.after - felt.before) / units.rate
        noise = np.exp(ln_B) * followed(felt, change, np.exp(ln_c), None)
        loss = E + np.exp(ln_A - np.exp(ln_a) * np.log(points.tau / units.tau)) + noise
        return units.loss * loss, units.loss * np.maximum(-noise, 0.0)


class MultiPowerForm(Form):
    """Power-law memory in tau: of exponent b, and faster or slower with the rate by its power -g."""

    name = "multi-power"
    formula = (
        "L = E + A (tau/tau0)^-a + B sum_j (deta_j/eta0) [1 - (1 + c (eta_j/eta0)^-g (tau - tau_j)/eta0)^-b]"
    )
    names = (*COMMON, "ln c", "ln b", "g")

    def priors(self, units: Units) -> tuple[FloatArray, FloatArray]:
        more = {"ln c": (np.log(0.02), 1.2), "ln b": (np.log(0.6), 0.5), "g": (0.6, 0.4)}
        return common_priors(more, units)

    def parts(self, theta: FloatArray, points: Track, units: Units) -> tuple[FloatArray, FloatArray]:
        E, ln_A, ln_a, ln_B, ln_c, ln_b, g = theta.tolist()
        felt = points.changes
        middle = 0.5 * (felt.before + felt.after) / units.rate
        speed = np.exp(ln_c) / units.rate * np.maximum(middle, 1e-6) ** -g
        follow = followed(felt, (felt.after - felt.before) / units.rate, speed, np.exp(ln_b))
        loss = E + np.exp(ln_A - np.exp(ln_a) * np.log(points.tau / units.tau)) + np.exp(ln_B) * follow
        full = points.schedule.peak / units.rate
        return units.loss * loss, units.loss * np.exp(ln_B) * np.maximum(full - follow, 0.0)
