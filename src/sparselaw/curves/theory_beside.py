"""What the theory of SGD says of the same curve: the spectrum of its exponent, and what should hold then.

On power-law features of which the variances fall as j^-s, s = alpha1 + alpha2 + 2, gradient flow has
tau^-(1 - 1/s) left after one pass, and noise put in at one moment is forgotten as the sum over j of
s_j^2 exp(-2 s_j u), with the tail u^-(2 - 1/s) = u^-(1 + a): the exponent of the descent is that of the
memory too. The noise is proportional to the rate (p = 1), and with noisy labels it does not fall with time
(m = 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.interval import Interval

P, M = 1.0, 0.0  # of the theory


@dataclass(frozen=True, slots=True, kw_only=True)
class TheoryBeside:
    """``spectrum`` is s for which 1 - 1/s is the exponent a; p and m are None where they were not fitted."""

    spectrum: Interval
    p: Interval | None
    m: Interval | None

    def words(self) -> str:
        """In one sentence."""
        falls = f"j^-{self.spectrum.best:.3g}"
        said = f"read as SGD on power-law features, a stands for variances that fall as {falls}"
        off = [
            f"{name} = {value.best:.2g} {value.ends()} where the theory has {theory:g}"
            for name, value, theory in (("p", self.p, P), ("m", self.m, M))
            if value is not None and not value.contains(theory)
        ]
        return said + (f"; against it, {' and '.join(off)}" if off else "")

    def as_dict(self) -> dict[str, Any]:
        return {
            "spectrum": self.spectrum.plain("a is 1 or more"), "p": P, "m": M, "kernel_tail": "u^-(1+a)",
            "words": self.words(),
        }  # fmt: skip


def spectrum_of(a: float) -> float:
    """s with 1 - 1/s = a; infinite from a = 1 on.

    >>> round(spectrum_of(1 - 1 / 3.3), 12)
    3.3
    """
    return 1.0 / (1.0 - a) if a < 1.0 else np.inf


def theory_beside(params: Mapping[str, Interval]) -> TheoryBeside:
    """The reading of fitted parameters."""
    a = params["a"]
    return TheoryBeside(
        spectrum=Interval(spectrum_of(a.low), spectrum_of(a.best), spectrum_of(a.high)),
        p=params.get("p"),
        m=params.get("m"),
    )
