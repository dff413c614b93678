"""The same question has the same answer to the last bit, whatever the process was asked before."""

import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sparselaw.inputs import SparseInputs
from sparselaw.predicting import predict
from sparselaw.theory.surface import curve

MODEL = SparseInputs(alpha1=0.4, alpha2=0.2)
QUESTIONS = {
    "below the rank": lambda: predict(MODEL, N=40, D=300).as_dict(),
    "at the peak": lambda: predict(MODEL, N=157, D=300).as_dict(),
    "above the rank": lambda: predict(MODEL, N=500, D=300).as_dict(),
    "ridge and noise": lambda: predict(MODEL, N=90, D=300, ridge=0.3, noise=0.1).as_dict(),
    "noise alone": lambda: predict(MODEL, N=90, D=300, noise=0.1).as_dict(),
    "a line of N": lambda: curve(MODEL, N=np.arange(10.0, 400.0, 15.0), D=300.0).tolist(),
    "a noisy line of D": lambda: curve(MODEL, N=60.0, D=[100.0, 300.0, 900.0], noise=0.1).tolist(),
}


def forget():
    """Empties every cache of the theory, as in a new process."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("sparselaw.theory", "sparselaw.sums", "sparselaw.inputs")):
            for thing in vars(module).values():
                if callable(getattr(thing, "cache_clear", None)):
                    thing.cache_clear()


@pytest.fixture(scope="module")
def alone():
    answers = {}
    with threadpool_limits(1):
        for name, question in QUESTIONS.items():
            forget()
            answers[name] = question()
    return answers


@pytest.mark.parametrize("backwards", [False, True])
def test_nothing_asked_before_changes_a_bit(alone, backwards):
    forget()
    names = list(QUESTIONS)[::-1] if backwards else list(QUESTIONS)
    with threadpool_limits(1):
        for name in names:
            assert QUESTIONS[name]() == alone[name], name
