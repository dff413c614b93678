"""Every number is what it was: the cases of cases.py against values.json, as comparing.py allows.

Bits are compared only where they are promised: the same seed on one machine.
"""

from __future__ import annotations

import json
import math

import pytest
from cases import CASES
from comparing import differences
from record import FILE, measure

PINNED = json.loads(FILE.read_text(encoding="ascii"))
SLOW = {"command failure with the full model", "plan theory finite 6nd sharp"}  # seconds each


def test_every_case_has_its_values():
    assert CASES.keys() == PINNED.keys()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES]
)
def test_value_is_what_it_was(name):
    found = list(differences(measure(name), PINNED[name], name))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "name", ["trial sparse-relu min-norm exact", "fit chinchilla huber", "failure spiky direct"]
)
def test_the_same_seed_gives_the_same_bytes(name):
    assert json.dumps(measure(name)) == json.dumps(measure(name))


def test_a_changed_value_is_seen():
    then = {"loss": [(1.0).hex(), "inf"], "status": ["ok"], "seen": [3]}
    assert not list(differences(then, then, "predict"))
    for other in (
        {"status": ["failed"]},
        {"seen": [4]},
        {"loss": [(1.0).hex(), (1.0).hex()]},
        {"seen": [3, 3]},
        {"loss": [(1.0 + 2e-9).hex(), "inf"]},
    ):
        assert len(list(differences(then | other, then, "predict"))) == 1


def test_each_kind_of_value_has_its_own_error():
    then, close, far = ({"value": (1.0 + error).hex()} for error in (0.0, 5e-8, 5e-7))
    assert not list(differences(close, then, "fit power"))
    assert list(differences(far, then, "fit power"))
    assert list(differences(close, then, "predict"))
    status = {"status": "ok", "value": math.inf.hex()}
    assert not list(differences(status | {"status": "stopped"}, status, "fit power l1 group"))
    assert list(differences(status | {"status": "stopped"}, status, "fit power huber group"))
