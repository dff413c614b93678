"""Schedules by name: ``cosine:24000``, ``wsd:20000,24000``, ``constant:72000`` and a few more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw import numbers
from sparselaw.arrays import FloatArray
from sparselaw.curves.learning_rate import RAMP, Schedule, make_schedule
from sparselaw.errors import InputError

END = 0.1  # of the peak: where a shape ends unless told
KNOTS = 41
# Share of the way from the peak to the end, for the share of the decay that is over.
Shape = Callable[[FloatArray], FloatArray]
DECAYS: dict[str, Shape] = {
    "cosine": lambda x: 0.5 * (1.0 - np.cos(np.pi * x)),
    "linear": lambda x: x,
    "wsd": lambda x: x,
    "wsd-sqrt": np.sqrt,
    "wsd-exp": lambda x: x,  # of the logarithm of the rate
    "step": lambda x: np.ones_like(x),
}
SHAPES = ("constant", *DECAYS)
TWO_NUMBERS = ("wsd", "wsd-sqrt", "wsd-exp", "step")
REMEDY = "write cosine:24000, wsd:20000,24000, constant:72000 or the path of a CSV with columns step, lr"


def is_written(text: str) -> bool:
    """Does this name a shape? Otherwise it is the path of a file."""
    return text.partition(":")[0].strip() in SHAPES


def written_schedule(text: str, *, peak: float, warmup: float) -> Schedule:
    """A schedule by its name, with as many steps as are written behind it.

    ``lr=``, ``end=`` and ``warmup=`` behind the steps take the place of the peak rate, of the last rate (a
    tenth of the peak) and of the warm-up.

    >>> written_schedule("wsd:800,1000,end=0", peak=3e-4, warmup=100).rate([50, 500, 900, 1000]).round(6)
    array([0.00015, 0.0003 , 0.00015, 0.     ])
    """
    name, _, rest = text.partition(":")
    name = name.strip()
    if name not in SHAPES:
        raise InputError("schedule", text, "is no known shape", f"choose {', '.join(SHAPES)}")
    counts, named = [], {"lr": peak, "warmup": warmup}
    for part in rest.split(","):
        key, sign, value = part.partition("=")
        if not sign:
            counts.append(numbers.size("schedule", part.strip()))
        elif key.strip() in ("lr", "end", "warmup"):
            named[key.strip()] = numbers.real("schedule", value.strip())
        else:
            raise InputError("schedule", text, f"does not know {key.strip()}", "give lr=, end= or warmup=")
    wanted = 2 if name in TWO_NUMBERS else 1
    if len(counts) != wanted:
        raise InputError("schedule", text, f"needs {wanted} number{'s' * (wanted - 1)} of steps", REMEDY)
    end = named.get("end", END * named["lr"])
    return shaped_schedule(name, *counts, peak=named["lr"], end=end, warmup=named["warmup"], written=text)


def shaped_schedule(
    shape: str, *counts: float, peak: float, end: float, warmup: float, written: str = ""
) -> Schedule:
    """A straight warm-up, the peak up to the first of two ``counts``, then the decay to the last step."""
    stop = float(counts[-1])
    start = float(counts[0]) if len(counts) > 1 else float(warmup)
    if not 0.0 < peak < np.inf:
        raise InputError("lr", peak, "must be positive", "give the peak rate")
    if not 0.0 <= end <= peak:
        raise InputError("end", end, "must lie between zero and the peak rate", "give the last rate")
    if not 0.0 <= warmup <= start <= stop or stop <= warmup:
        raise InputError(
            "schedule", written or shape, f"has its steps out of order (warm-up ends at {warmup:g})", REMEDY
        )
    steps = np.linspace(0.0, warmup, RAMP).tolist() if warmup > 0.0 else [0.0]
    rates = np.linspace(0.0, peak, RAMP).tolist() if warmup > 0.0 else [peak]
    if start > steps[-1]:
        steps.append(start)
        rates.append(peak)
    if shape == "constant" or start == stop:
        steps.append(stop)
        rates.append(peak)
    else:
        share = np.linspace(0.0, 1.0, KNOTS)
        gone = DECAYS[shape](share)
        low = max(end, 1e-3 * peak) if shape == "wsd-exp" else end
        decay = peak * (low / peak) ** gone if shape == "wsd-exp" else peak + (low - peak) * gone
        first = 0 if shape == "step" else 1  # a step falls at once: two knots at its beginning
        steps += (start + share * (stop - start))[first:].tolist()
        rates += decay[first:].tolist()
    return make_schedule(steps, rates, warmup, written)
