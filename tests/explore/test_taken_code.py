"""The command and the Python that the page hands out give the numbers that it shows."""

import json

import pytest

from sparselaw.cli import main
from sparselaw.explore.session import Session

POINT = {"alpha1": "1", "alpha2": "0.3"}
STATES = [
    {"D": "300", "low": "4", "high": "90"},
    {"D": "40,300", "ridge": "0.1", "noise": "0.01", "surface": "leading"},
    {"along": "D", "N": "8", "low": "10", "high": "90", "dimension": "500", "surface": "leading"},
    {"inputs": "dense", "D": "60", "low": "4", "high": "90"},
    {"D": "300", "low": "4", "high": "90", "solver": "sgd", "passes": "2"},
    {"D": "300", "low": "4", "high": "90", "solver": "gd", "steps": "50", "noise": "0.1"},
    {"along": "xi", "N": "8", "surface": "leading"},
]


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        yield made


def shell(line, capsys):
    """What the command prints as JSON."""
    import shlex

    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(line)[1:], "--json"])
    assert ended.value.code == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("state", STATES, ids=lambda state: "&".join(f"{k}={v}" for k, v in state.items()))
def test_curves_come_again_by_command_and_by_python(session, capsys, state):
    found = session.values("surface", POINT | state)
    along = "D" if state.get("along") == "xi" else state.get("along", "N")
    names: dict = {}
    exec(found["code"]["python"], names)
    printed = {(p["N"], p["D"]): p["loss"] for p in shell(found["code"]["shell"], capsys)["points"]}
    typed = {(int(r.N), int(r.D)): r.loss for r in names["found"].itertuples()}
    assert typed.keys() == printed.keys()
    alpha_N = names["model"].exponents.alpha_N
    shown = 0
    for series in found["chart"]["series"]:
        fixed, _, size = series["label"].partition(" = ")
        if fixed not in ("N", "D"):
            continue
        other = int(size.replace(",", ""))
        for x, y in zip(series["x"], series["y"], strict=True):
            if y is None:
                continue
            if state.get("along") == "xi":
                y, x = y / other**alpha_N, round((x * other) ** 2)
            pair = (int(x), other) if along == "N" else (other, int(x))
            assert printed[pair] == pytest.approx(y, rel=1e-9)
            assert typed[pair] == pytest.approx(y, rel=1e-9)
            shown += 1
    assert shown > 15
    if state.get("along") == "xi":
        assert found["chart"]["series"][0]["y"] == pytest.approx(names["S"], rel=1e-6)


@pytest.mark.parametrize("state", [{}, {"ridge": "0.1", "noise": "0.2"}, {"solver": "sgd", "passes": "2"}])
def test_trials_come_again_by_command_and_by_python(session, capsys, tmp_path, state):
    found = session.values("surface/estimate", POINT | {"sim_N": "4,6", "sim_D": "40", "seeds": "2"} | state)
    names: dict = {}
    exec(found["code"]["python"].replace("seeds=2", "seeds=2, workers=1"), names)
    cells = shell(f"{found['code']['shell']} --workers 1 --store {tmp_path / 'runs.sqlite'}", capsys)["cells"]
    for cell in cells:
        losses = names["runs"].query(f"N == {cell['N']}")["loss"]
        assert cell["mean"] == pytest.approx(losses.mean(), rel=1e-12)


def test_the_phase_comes_again(session, capsys):
    found = session.values("phase", POINT)
    printed = shell(found["code"]["shell"], capsys)
    names: dict = {}
    exec(found["code"]["python"].replace("model.exponents", "law = model.exponents"), names)
    for name in ("alpha_N", "alpha_D", "alpha_C", "xi_crit"):
        assert found[name] == printed[name] == getattr(names["law"], name)
