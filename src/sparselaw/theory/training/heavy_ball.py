"""Full-batch gradient descent with momentum (the heavy ball), mode by mode and exactly.

theta_(t+1) = theta_t - eta grad + beta (theta_t - theta_(t-1)) leaves of a mode of curvature l the polynomial
f_t(l), f_(t+1) = (1 + beta - eta l) f_t - beta f_(t-1), f_0 = 1, f_1 = 1 - eta l. With r the larger root of
r + beta/r = 1 + beta - eta l and q = beta/r^2,

    f_t = r^t [1 - q^(t+1) - (beta/r)(1 - q^t)] / (1 - q).

Slow modes, r near one, behave as under the step eta/(1 - beta), beta/(1 - beta) steps late. Fast ones,
eta l > (1 - sqrt beta)^2, swing, with |r| = sqrt beta.

A function f_t of a matrix is an integral over z = -l around its spectrum. In r that is outside the disc of
radius sqrt beta and the stretch from there to one, so Talbot's contour of r^t = e^s serves once the swings
have died, and a circle around everything before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import FEW_STEPS, UNIT, WEIGHT, ComplexArray

DEAD = 14.0  # -ln of what is left of the swings where Talbot's contour serves
OUTSIDE = 5.0  # t ln|r| on the circle
PER_STEP = 1.75  # nodes of its upper half
MOST_NODES = 2000
CLOSE = 1e-12  # where the two roots meet they are taken a little apart


@dataclass(frozen=True, slots=True)
class HeavyBall:
    """``steps`` steps of size ``step`` with momentum beta."""

    step: float
    momentum: float
    steps: float

    @property
    def dead(self) -> float:
        """-ln of what is left of the swings."""
        return -0.5 * self.steps * float(np.log(self.momentum))

    @property
    def covered(self) -> bool:
        """Whether there is a contour for finitely many features."""
        return self._talbot or PER_STEP * self.steps <= MOST_NODES

    @property
    def _talbot(self) -> bool:
        """Whether Talbot's contour serves: the swings have died, and it stays within half a turn of r."""
        return self.dead >= DEAD and self.steps >= FEW_STEPS

    def left(self, curvature: FloatArray) -> FloatArray:
        """f_t(l)."""
        return np.asarray(np.real(self._left(self.log_root(curvature))))

    def nodes(self, power: int) -> tuple[ComplexArray, ComplexArray]:
        """z of the upper half plane and weights: (1/2 pi i) int f_t^power F dz = 2 Re sum weights F(z)."""
        steps = power * self.steps
        if self._talbot:
            kept = UNIT.real / steps > 0.5 * np.log(self.momentum)
            log_r: ComplexArray = np.asarray(UNIT[kept] / steps)
            measure = (WEIGHT * np.exp(-UNIT))[kept] / steps
        else:
            count = int(np.ceil(PER_STEP * max(steps, 16.0)))
            log_r = np.asarray(OUTSIDE / steps + 1j * np.pi * (np.arange(count) + 0.5) / count)
            measure = np.full(count, 0.5 / count, dtype=np.complex128)
        r, beta = np.exp(log_r), self.momentum
        z = (np.expm1(log_r) + beta * np.expm1(-log_r)) / self.step
        return np.asarray(z), np.asarray(measure * self._left(log_r) ** power * (r - beta / r) / self.step)

    def _left(self, log_r: ComplexArray) -> ComplexArray:
        log_q = np.log(self.momentum) - 2.0 * log_r
        late = np.exp(self.steps * log_q)
        early = (1.0 - late) * (1.0 - self.momentum * np.exp(-log_r)) / -np.expm1(log_q)
        return np.asarray(np.exp(self.steps * log_r) * (early + late))

    def log_root(self, curvature: FloatArray) -> ComplexArray:
        """ln r at real curvatures, without cancellation for slow modes."""
        x, beta = self.step * np.asarray(curvature, dtype=float), self.momentum
        square = (1.0 - beta) ** 2 - 2.0 * (1.0 + beta) * x + x**2
        square = np.where(np.abs(square) < CLOSE, CLOSE, square)
        fall = 2.0 * x / ((1.0 - beta) + x + np.sqrt(square.astype(np.complex128)))
        # numpy's log1p of complex numbers loses the digits of small ones
        root = np.where(
            np.abs(fall) < 1e-3,
            -fall * (1.0 + fall * (0.5 + fall * (1.0 / 3.0 + fall * (0.25 + 0.2 * fall)))),
            np.log1p(-fall),
        )
        other = np.log(beta) - root  # the larger one where eta l is above (1 + sqrt beta)^2
        return np.asarray(np.where(root.real >= other.real, root, other))


def slow_rate(curvature: FloatArray, step: float, momentum: float) -> FloatArray:
    """-ln|r| over ``step`` = eta/(1 - beta): how fast a mode falls in the end, at most -ln(beta)/(2 step)."""
    one = HeavyBall(step=step * (1.0 - momentum), momentum=momentum, steps=1.0)
    return np.asarray(-one.log_root(curvature).real / step)


def mean_square_root(curvature: FloatArray, shaking: FloatArray, step: float, momentum: float) -> FloatArray:
    """rho: by how much the mean square error of a mode falls a step, with noise in proportion to itself.

    e' = (1 + beta - eta l) e - beta e_before + noise, whose variance is (1 - beta)^2 ``shaking`` e^2: the
    largest root of the second moments of (e, e_before).
    """
    ahead = 1.0 + momentum - step * (1.0 - momentum) * curvature
    moments = np.zeros((curvature.size, 3, 3))
    moments[:, 0, 0] = ahead**2 + (1.0 - momentum) ** 2 * shaking
    moments[:, 0, 1], moments[:, 0, 2] = -2.0 * ahead * momentum, momentum**2
    moments[:, 1, 0], moments[:, 1, 1], moments[:, 2, 0] = ahead, -momentum, 1.0
    return np.asarray(np.abs(np.linalg.eigvals(moments)).max(axis=1, initial=0.0))
