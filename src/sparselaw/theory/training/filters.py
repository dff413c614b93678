"""Full-batch solvers as spectral filters: what a solver leaves of an error of curvature l is a sum of poles.

    rho(l) = sum_i weight_i/(l + z_i)

Ridge is one real pole. Gradient descent, gradient flow and the heavy ball are polynomials or exponentials of
l, which an integral along a contour around the spectrum turns into poles. Poles come in conjugate pairs, of
which the one in the upper half plane is kept: rho = 2 Re sum weight/(l + z).

A step with momentum beta leaves rho_(t+1) = (1 + beta - eta l) rho_t - beta rho_(t-1), rho_0 = 1, rho_1 =
1 - eta l. With r the larger root of r + beta/r = 1 + beta - eta l and q = beta/r^2,

    rho_t = r^t [1 - q^(t+1) - (beta/r)(1 - q^t)]/(1 - q),     r^t = (1 - eta l)^t where beta = 0.

Slow modes, r near one, fall as under the step eta/(1 - beta), beta/(1 - beta) steps late. Fast ones, eta l >
(1 - sqrt beta)^2, swing, with |r| = sqrt beta; beyond (1 + sqrt beta)^2 r is negative, and -1 is the edge of
stability. Once the swings have died, Talbot's contour of log r, around the stretch from zero to one, is
enough; before, it is a circle around everything that does not grow.

Functions of the time come from their Laplace transforms along the same contour, f(t) = (1/2 pi i) int e^(z t)
F(z) dz, with midpoint nodes on the cotangent contour of Trefethen, Weideman and Schmelzer: the error falls as
3.9^-NODES.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

ComplexArray = NDArray[np.complex128]

NODES = 20  # of Talbot's contour
FEW_STEPS = 12.0  # from there on the contour stays within half a turn of a step's own root
DEAD = 14.0  # -ln of what is left of the swings where Talbot's contour is enough
OUTSIDE = 5.0  # t ln|r| on the circle
PER_STEP = 1.3  # nodes of its upper half: the error is e^(-2 OUTSIDE PER_STEP)
MOST_NODES = 1500
ROOTS_MEET = 1e-12  # where the two roots meet they are taken a little apart
NORMAL = np.linspace(-5.0, 5.0, 61)  # places of a normal variable
CHANCE = np.exp(-0.5 * NORMAL**2) / np.exp(-0.5 * NORMAL**2).sum()

_ANGLE = np.pi * (2.0 * np.arange(NODES // 2) + 1.0) / NODES
_COT = 1.0 / np.tan(0.6407 * _ANGLE)
UNIT: ComplexArray = NODES * (0.5017 * _ANGLE * _COT - 0.6122 + 0.2645j * _ANGLE)  # z t
_SLOPE = NODES * (0.5017 * _COT - 0.5017 * 0.6407 * _ANGLE * (1.0 + _COT**2) + 0.2645j)
WEIGHT: ComplexArray = np.exp(UNIT) * _SLOPE / (1j * NODES)  # of F(z)/t


def places(times: FloatArray) -> ComplexArray:
    """The nodes z of the contour of each time: (times, nodes)."""
    return np.asarray(UNIT / np.asarray(times, dtype=float)[..., None])


def inverse(transform: ComplexArray, times: FloatArray) -> FloatArray:
    """f at the times, from F at their ``places``."""
    return np.asarray(2.0 * np.real(transform @ WEIGHT) / np.asarray(times, dtype=float))


@dataclass(frozen=True, slots=True)
class Filter:
    """Poles of the upper half plane and their weights, conjugates implied; a real one has half its weight."""

    z: ComplexArray
    weight: ComplexArray

    def __call__(self, curvature: FloatArray) -> FloatArray:
        """rho(l)."""
        return np.asarray(
            2.0 * np.real(self.weight / (np.asarray(curvature)[..., None] + self.z)).sum(axis=-1)
        )


def flow_filter(time: float) -> Filter:
    """e^(-l time): gradient descent of very small steps."""
    return Filter(np.asarray(UNIT / time), np.asarray(WEIGHT / time))


@dataclass(frozen=True, slots=True)
class HeavyBall:
    """``steps`` steps of size ``step`` with momentum beta; zero is plain gradient descent.

    ``top``: the end of the spectrum, which says whether anything swings or grows.
    """

    step: float
    momentum: float
    steps: float
    top: float = 0.0

    @property
    def edge(self) -> float:
        """The curvature from which on modes grow."""
        return 2.0 * (1.0 + self.momentum) / self.step

    @property
    def _log_swing(self) -> float:
        return 0.5 * math.log(self.momentum) if self.momentum > 0.0 else -math.inf

    @property
    def swing_decay(self) -> float:
        """-ln of what is left of the swings."""
        swing = self._log_swing
        if self.step * self.top > (1.0 + math.sqrt(self.momentum)) ** 2:  # r is negative there
            swing = max(swing, float(self.log_root(np.array([self.top])).real[0]))
        return -self.steps * swing if swing < 0.0 else 0.0

    @property
    def contour(self) -> Literal["talbot", "circle"] | None:
        """Talbot's where the swings have died and it stays within half a turn of r; or some poles a step.

        Where the spectrum reaches beyond the edge of stability no circle goes around what does not grow.
        """
        if self.steps >= FEW_STEPS and (self.top > self.edge or self.swing_decay >= DEAD):
            return "talbot"
        return "circle" if PER_STEP * self.steps <= MOST_NODES else None

    def filter(self, power: int = 1) -> Filter:
        """rho^power as poles."""
        steps = power * self.steps
        if self.contour == "circle":
            count = math.ceil(PER_STEP * max(steps, 16.0))
            log_r = np.asarray(OUTSIDE / steps + 1j * np.pi * (np.arange(count) + 0.5) / count)
            measure = np.full(count, 0.5 / count, dtype=np.complex128)
        else:
            kept = UNIT.real / steps > self._log_swing
            log_r = np.asarray(UNIT[kept] / steps)
            measure = (WEIGHT * np.exp(-UNIT))[kept] / steps
        r, beta = np.exp(log_r), self.momentum
        z = (np.expm1(log_r) + beta * np.expm1(-log_r)) / self.step
        weight = measure * self._left(log_r) ** power * (r - beta / r) / self.step
        return Filter(np.asarray(z), np.asarray(weight))

    def swinging(self, curvature: FloatArray, relative: float) -> FloatArray:
        """Mean rho^2 of what Talbot's contour leaves out: modes with r < 0 that do not grow.

        Curvatures of single runs scatter around ``curvature`` by this ``relative`` standard deviation.
        """
        if self.contour != "talbot":
            return np.zeros_like(curvature)
        drawn = np.multiply.outer(np.asarray(curvature), 1.0 + relative * NORMAL)
        swings = ((1.0 + math.sqrt(self.momentum)) ** 2 < self.step * drawn) & (drawn < self.edge)
        left = np.zeros_like(drawn)
        left[swings] = self.left(drawn[swings]) ** 2
        return np.asarray(left @ CHANCE)

    def left(self, curvature: FloatArray) -> FloatArray:
        """rho at real curvatures, exactly."""
        if self.momentum == 0.0:
            with np.errstate(over="ignore"):
                return np.asarray((1.0 - self.step * np.asarray(curvature)) ** self.steps)
        return np.asarray(np.real(self._left(self.log_root(curvature))))

    def _left(self, log_r: ComplexArray) -> ComplexArray:
        if self.momentum == 0.0:
            return np.asarray(np.exp(self.steps * log_r))
        log_q = math.log(self.momentum) - 2.0 * log_r
        late = np.exp(self.steps * log_q)
        early = (1.0 - late) * (1.0 - self.momentum * np.exp(-log_r)) / -np.expm1(log_q)
        return np.asarray(np.exp(self.steps * log_r) * (early + late))

    def log_root(self, curvature: FloatArray) -> ComplexArray:
        """ln r at real curvatures, without cancellation for slow modes."""
        x, beta = self.step * np.asarray(curvature, dtype=float), self.momentum
        if beta == 0.0:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log((1.0 - x).astype(np.complex128)))
        square = (1.0 - beta) ** 2 - 2.0 * (1.0 + beta) * x + x**2
        square = np.where(np.abs(square) < ROOTS_MEET, ROOTS_MEET, square)
        fall = 2.0 * x / ((1.0 - beta) + x + np.sqrt(square.astype(np.complex128)))
        # numpy's log1p of complex numbers loses the digits of small ones
        series = -fall * (1.0 + fall * (0.5 + fall * (1.0 / 3.0 + fall * (0.25 + 0.2 * fall))))
        root = np.where(np.abs(fall) < 1e-3, series, np.log1p(-fall))
        other = math.log(beta) - root  # the larger one where eta l is above (1 + sqrt beta)^2
        return np.asarray(np.where(root.real >= other.real, root, other))
