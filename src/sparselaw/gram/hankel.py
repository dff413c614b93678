"""Laws of reciprocals by their Laplace transforms: a Hankel transform on logarithmic grids.

For a positive random x with transform h(v) = E e^{-vx}, its reciprocal has

    E e^{-w/x} = 1 - int_0^inf sqrt(w v) J_1(2 sqrt(w v)) h(v) dlog v,

because the integral is 1 - e^{-w/x} for one x. It is a convolution in log v and log w: a product of Mellin
transforms, with Gamma(1+s)/Gamma(1-s) for the kernel, done by FFT along s = -BIAS + iy. A Laplace transform
of a law holds Gamma(iy) as a factor and falls as e^{-pi |y|/2}: coarse steps suffice whatever the law.
BIAS > 0 lets the errors of rounding fall with w, as 1 minus the result does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

STEP = 0.3  # in log v and log w
BIAS = 0.3


class Hankel:
    """int sqrt(w v) J_1(2 sqrt(w v)) h(v) dlog v from v = v0 e^{STEP n} to w = w0 e^{STEP m}.

    h must be small at both ends: subtract e^{-av}, whose integral is 1 - e^{-w/a}.
    """

    def __init__(self, log_v0: float, log_w0: float, size: int) -> None:
        self._size = size
        y = 2.0 * math.pi * np.arange(size // 2 + 1) / (size * STEP)
        symbol = _log_gamma(1.0 - BIAS + 1j * y) - _log_gamma(1.0 + BIAS - 1j * y)
        self._symbol = np.exp(symbol - 1j * y * (log_v0 + log_w0))
        self._symbol[-1] = 0.0
        steps = STEP * np.arange(size)
        self._before, self._after = np.exp(BIAS * (log_v0 + steps)), np.exp(BIAS * (log_w0 + steps))

    def __call__(self, h: FloatArray) -> FloatArray:
        spectrum = np.fft.rfft(h * self._before, axis=-1)
        return np.asarray(self._after * np.fft.irfft(np.conj(spectrum * self._symbol), self._size, axis=-1))


def _log_gamma(z: NDArray[Any]) -> NDArray[Any]:
    """Stirling's series after twelve steps of the recurrence."""
    below = sum(np.log(z + j) for j in range(12))
    z = z + 12.0
    series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z**3) + 1.0 / (1260.0 * z**5)
    return np.asarray((z - 0.5) * np.log(z) - z + 0.5 * math.log(2.0 * math.pi) + series - below)
