"""Failure: how often gradient descent diverges, along D: the exact spike at once, the bulk by sampling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparselaw.errors import InputError, check_positive
from sparselaw.explore.call import Call, code_of, input_options, input_python, shell
from sparselaw.explore.chart_data import axis, chart, line
from sparselaw.failure.failure_curve import Sampling
from sparselaw.failure.probability import case_of, check_work, estimate
from sparselaw.inputs import Inputs, inputs_of
from sparselaw.numbers import typed
from sparselaw.theory.descent import spike_exponent, spike_probability

MOST_POINTS = 24
MOST_SAMPLED = 12
DEFAULT_D = "10:10000:13"


def failure(call: Call) -> dict[str, Any]:
    """P(spike) on the whole range, exact, and the power it falls with."""
    inputs, sizes, threshold = _asked(call)
    spikes = [spike_probability(inputs, D, threshold) for D in sizes]
    nu = spike_exponent(inputs)
    none = ["" if p > 0.0 else "zero: no amplitude is large enough" for p in spikes]
    exact = line("one rare activation: the exact spike", sizes, spikes, colour=0, reason=none)
    drawn = chart(axis("samples D"), axis("probability of divergence"), [exact])
    if nu is None:
        drawn["notes"].append("alpha2 >= −1: amplitudes do not grow with j, so there is no rare spike")
    elif any(spikes):
        last = max(i for i, p in enumerate(spikes) if p > 0.0)
        y = [spikes[last] * (D / sizes[last]) ** -nu for D in sizes]
        drawn["series"].append(line(f"slope −nu = −{nu:.3g}", sizes, y, colour=None, dash="dotted"))
    listed = ",".join(str(D) for D in sizes)
    command = shell("failure", **input_options(inputs), D=listed, threshold=threshold)
    python = f"sl.failure_probability(model, D={sizes}, threshold={typed(threshold)})"
    return {
        "chart": drawn,
        "nu": nu,
        "threshold": threshold,
        "step": 2.0 / threshold,
        "D": sizes,
        "code": code_of(command, input_python(inputs), python),
    }


def bulk(call: Call) -> Iterator[dict[str, Any]]:
    """A line for each D as its data sets have been drawn."""
    inputs, sizes, threshold = _asked(call)
    sizes = sizes[:: max(1, -(-len(sizes) // MOST_SAMPLED))]
    sampling = Sampling(method="auto", relative_error=0.1, failures=None, replicates=200_000, seed=0)
    for D in sizes:
        check_work(case_of(inputs, D, threshold, sampling))
    yield {"points": len(sizes)}
    asked = [(inputs.kind, inputs.parameters(), D, threshold, sampling) for D in sizes]
    for done, (_, row) in enumerate(call.session.bench.map(call.stop, one_point, asked), start=1):
        yield {"point": row, "done": done}


def one_point(asked: tuple[str, dict[str, Any], int, float, Sampling]) -> dict[str, Any]:
    """The failure probability at one D, in a worker."""
    kind, parameters, D, threshold, sampling = asked
    return estimate(case_of(inputs_of(kind, parameters), D, threshold, sampling)).as_dict()


def _asked(call: Call) -> tuple[Inputs, list[int], float]:
    inputs = call.inputs()
    inputs.power_activations()
    sizes = call.sizes("failure_D", DEFAULT_D, most=MOST_POINTS)
    if call.text("step"):
        if call.text("threshold"):
            raise InputError("step", call.text("step"), "is given beside a threshold", "give one of the two")
        threshold = 2.0 / call.positive("step")
    else:
        threshold = call.positive("threshold", 2.0)
    return inputs, sizes, check_positive("threshold", threshold)
