"""The command and the Python that give what a chart shows."""

from __future__ import annotations

import shlex
from typing import Any

from sparselaw.inputs import Inputs
from sparselaw.numbers import typed


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
            words.append(typed(value))
    return shlex.join(words)


def input_python(inputs: Inputs) -> str:
    """The line that makes the inputs in Python.

    >>> from sparselaw.inputs import SparseInputs
    >>> input_python(SparseInputs(alpha1=1.0, alpha2=0.3))
    'model = sl.SparseInputs(alpha1=1, alpha2=0.3)'
    """
    return f"model = {inputs.as_python()}"
