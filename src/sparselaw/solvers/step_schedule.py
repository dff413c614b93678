"""How the step falls along a run: named shapes of a decay, from the first step to the last."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_choice, check_not_negative
from sparselaw.numbers import real

# Share of the way from the first rate to the last, for the share of the decay that is over.
DECAYS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "cosine": lambda x: 0.5 * (1.0 - np.cos(np.pi * x)),
    "linear": lambda x: x,
    "wsd": lambda x: x,
    "wsd-sqrt": np.sqrt,
    "wsd-exp": lambda x: x,  # of the logarithm of the rate
    "step": lambda x: np.ones_like(x),
}
LATE = ("wsd", "wsd-sqrt", "wsd-exp", "step")  # these stay at the first rate for a while
END, START = 0.1, 0.8  # share of the first rate at the end, and of the run before a late decay, unless given
PIECES = 40  # constant steps that stand for a falling one, in theory and simulation alike


def decayed(shape: str, share: FloatArray, end: float) -> FloatArray:
    """The rate over the first one where ``share`` of the decay is over; it ends at ``end``."""
    gone = DECAYS[shape](share)
    if shape == "wsd-exp":
        return np.asarray(max(end, 1e-3) ** gone)
    return np.asarray(1.0 + (end - 1.0) * gone)


def step_pieces(text: str) -> tuple[tuple[float, float], ...]:
    """(share of the run, step over the first one) of constant pieces; ``text`` is as in ``SGD``.

    >>> step_pieces("constant"), step_pieces("step:0.75,end=0.5")
    (((1.0, 1.0),), ((0.75, 1.0), (0.25, 0.5)))
    >>> len(step_pieces("cosine"))
    40
    """
    name, _, rest = text.partition(":") if ":" in text else text.partition(",")
    shape = check_choice("schedule", name.strip(), ["constant", *DECAYS])
    start, end = START if shape in LATE else 0.0, END
    for part in filter(None, rest.split(",")):
        key, sign, value = part.partition("=")
        number = check_not_negative("schedule", real("schedule", value if sign else key))
        known = key.strip() == "end" if sign else shape in LATE
        if not known or number > 1.0 or (shape == "step" and sign and number == 0.0):
            remedy = "write cosine, wsd:0.8, wsd:0.8,end=0 or step:0.5,end=0.1"
            raise InputError("schedule", text, "is no schedule of shares of the run", remedy)
        start, end = (start, number) if sign else (number, end)
    if shape == "constant" or start == 1.0:
        return ((1.0, 1.0),)
    count = 1 if shape == "step" else PIECES
    falling = decayed(shape, (np.arange(count) + 0.5) / count, end)
    return (*([(start, 1.0)] if start else []), *(((1.0 - start) / count, float(f)) for f in falling))
