"""The command and the Python that give what a chart shows."""

from __future__ import annotations

import math
import shlex
from typing import Any

from sparselaw.inputs import Inputs, SparseInputs, TabulatedInputs


def shell(command: str, **options: Any) -> str:
    """A line for the shell; what is None is left out.

    >>> shell("predict", alpha1=1.0, N="4,8", ridge=None)
    'sparselaw predict --alpha1 1 -N 4,8'
    """
    words = ["sparselaw", command]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(plain(value))
    return shlex.join(words)


def plain(value: Any) -> str:
    """A number as a person would type it.

    >>> plain(0.1), plain(1e-7), plain(50000.0)
    ('0.1', '1e-07', '50000')
    """
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def input_options(inputs: Inputs) -> dict[str, Any]:
    """The options of the command line that describe the inputs; those of their own accord are left out.

    >>> input_options(TabulatedInputs([0.5], [1.0], source="words.json"))
    {'inputs': 'words.json'}
    """
    if isinstance(inputs, TabulatedInputs):
        return {"inputs": inputs.source}
    kind = {} if inputs.kind == SparseInputs.kind else {"inputs": inputs.kind}
    return kind | _parameters(inputs)


def input_python(inputs: Inputs) -> str:
    """The line that makes the inputs in Python.

    >>> input_python(SparseInputs(alpha1=1.0, alpha2=0.3))
    'model = sl.SparseInputs(alpha1=1, alpha2=0.3)'
    """
    if isinstance(inputs, TabulatedInputs):
        return f"model = sl.TabulatedInputs.from_file({inputs.source!r})"
    values = {
        name: 'float("inf")' if value == math.inf else plain(value)
        for name, value in _parameters(inputs).items()
    }
    shown = ", ".join(f"{name}={value}" for name, value in values.items())
    return f"model = sl.{type(inputs).__name__}({shown})"


def _parameters(inputs: Inputs) -> dict[str, Any]:
    values = inputs.parameters()
    usual = {name: value for name, value in values.items() if name != "dimension"}
    return usual if type(inputs)(**usual) == inputs else values
