"""Features that know little, or something else, of themselves: each takes another way through the trials."""

import numpy as np
from scipy.special import erf

from sparselaw.features import FeatureMap


class Tanh(FeatureMap):
    """Nothing in closed form."""

    name = "tanh"

    def apply(self, z):
        return np.tanh(z, out=z)


class Leaky(FeatureMap):
    """Its odd part is linear, its Gaussian moments are not told."""

    name = "leaky"
    odd_slope = 0.625

    def apply(self, z):
        return np.where(z > 0, z, z / 4)


class Erf(FeatureMap):
    """Gaussian moments, but an odd part that is not linear."""

    name = "erf"

    def apply(self, z):
        return erf(z)

    def gaussian_moments(self, covariance, left, right):
        scale = np.sqrt(np.outer(1 + 2 * left**2, 1 + 2 * right**2))
        return 2 / np.pi * np.arcsin(2 * covariance / scale)

    def gaussian_slopes(self, deviations):
        return 2 / np.sqrt(np.pi * (1 + 2 * deviations**2))


OTHERS = (Tanh(), Leaky(), Erf())
