"""Features as plain formulas, and features that know little of themselves: another way through the trials."""

import numpy as np
from scipy import integrate
from scipy.special import erf

from sparselaw.features import FeatureMap

PLAIN = {
    "linear": lambda z: z,
    "trained": lambda z: z,
    "relu": lambda z: np.maximum(z, 0.0),
    "leaky-relu": lambda z: np.where(z > 0, z, z / 5),
    "gelu": lambda z: z * (1 + erf(z / np.sqrt(2))) / 2,
    "tanh": np.tanh,
    "erf": erf,
    "sign": np.sign,
    "abs": np.abs,
    "plain-tanh": np.tanh,
    "plain-leaky": lambda z: np.where(z > 0, z, z / 4),
}
SLOPES = {
    "relu": 0.5,
    "leaky-relu": 0.6,
    "gelu": 0.5,
    "abs": 0.0,
    "plain-leaky": 0.625,
}  # of a linear odd part
DEGREE_ONE = ("linear", "trained", "relu", "leaky-relu", "abs")


def layer(name, N):
    """phi of u x, for N units: f(sqrt(N) u x) / sqrt(N)."""
    return lambda z: PLAIN[name](np.sqrt(N) * z) / np.sqrt(N)


class PlainTanh(FeatureMap):
    """Nothing in closed form."""

    name = "plain-tanh"

    def apply(self, z):
        return np.tanh(z, out=z)


class PlainLeaky(FeatureMap):
    """Its odd part is linear, its Gaussian moments are not told, nor that it is homogeneous."""

    name = "plain-leaky"
    odd_slope = 0.625

    def apply(self, z):
        return np.where(z > 0, z, z / 4)


OTHERS = (PlainTanh(), PlainLeaky())


def gaussian_moment(name, left, right, correlation):
    """E f(a) f(b): in polar coordinates where f has a kink at zero, else on a grid of two normals."""
    f = PLAIN[name]
    if name in (*DEGREE_ONE, "sign"):
        angle = np.arccos(correlation)
        kinks = [
            -np.pi / 2,
            np.pi / 2,
            angle - np.pi / 2,
            (angle + 1.5 * np.pi) % (2 * np.pi) - np.pi,
        ]  # mean r^2 = 2, and r^0 = 1
        size = 1.0 if name == "sign" else 2.0 * left * right

        def integrand(t):
            return float(f(np.cos(t)) * f(np.cos(t - angle)))

        return size * integrate.quad(integrand, -np.pi, np.pi, points=kinks)[0] / (2 * np.pi)
    x = np.arange(-9, 9.01, 0.05)
    weight = np.exp(-(x**2) / 2)
    weight /= weight.sum()
    b = correlation * x[:, None] + np.sqrt(1 - correlation**2) * x[None]
    return float(weight @ (f(left * x)[:, None] * f(right * b)) @ weight)


def gaussian_slope(name, deviation):
    """E[f(a) a] / E a^2, each half of the line by itself."""

    def integrand(t):
        return float(PLAIN[name](np.array(deviation * t))) * t * np.exp(-t * t / 2) / np.sqrt(2 * np.pi)

    return (integrate.quad(integrand, -12, 0)[0] + integrate.quad(integrand, 0, 12)[0]) / deviation
