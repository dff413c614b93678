"""A name stands for one thing: registering another under it is refused alike in every room."""

import importlib.util
import sys

import pytest

import sparselaw as sl
from sparselaw import costs, features, inputs, laws, solvers
from sparselaw.costs import CostModel

ROOMS = {
    "inputs": (inputs.register, inputs.KINDS, sl.SparseInputs, "sparse"),
    "law": (laws.register, laws.LAWS, sl.ChinchillaLaw, "chinchilla"),
    "cost": (costs.register, costs.COSTS, costs.COSTS["direct"], "direct"),
    "features": (features.register, features.FEATURES, features.ReLU, "relu"),
    "solver": (solvers.register, solvers.SOLVERS, sl.Ridge, "ridge"),
}


def another(thing):
    """Of the same name, written by somebody else."""
    if isinstance(thing, CostModel):
        return CostModel(name=thing.name, terms=lambda: ())
    return type("Another", (thing,), {"__slots__": (), "__module__": __name__})


@pytest.mark.parametrize("room", ROOMS)
def test_a_name_that_is_taken_is_refused(room):
    register, known, thing, name = ROOMS[room]
    before = dict(known)
    with pytest.raises(sl.InputError) as refused:
        register(another(thing))
    assert str(refused.value).startswith(f"{room}={name}: is the name of ")
    assert str(refused.value).endswith("; choose another name")
    assert "\n" not in str(refused.value)
    assert known == before


@pytest.mark.parametrize("room", ROOMS)
def test_the_same_thing_once_more_is_not(room):
    register, known, thing, name = ROOMS[room]
    before = list(known)
    kept = known[name]
    assert register(thing) is thing
    assert list(known) == before
    known[name] = kept


MODULE = """
from dataclasses import dataclass
from sparselaw.solvers.base import Solver, register

@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Mine(Solver):
    name = "mine"

    def solve(self, equations):
        return None
"""


def test_a_module_may_come_under_two_names(tmp_path, monkeypatch):
    """As a script that is __main__ and is imported by another; the last one stands."""
    monkeypatch.delitem(solvers.SOLVERS, "mine", raising=False)
    (tmp_path / "script.py").write_text(MODULE)
    found = []
    for name in ("one_name", "another_name"):
        spec = importlib.util.spec_from_file_location(name, tmp_path / "script.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        found.append(module.Mine)
    assert found[0] is not found[1]
    assert solvers.SOLVERS.pop("mine") is found[1]
