"""Kept results: made again from their file without the table, asked anew, and never trusted."""

import json
from contextlib import suppress

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.errors import InputError
from sparselaw.laws import ChinchillaLaw

LAW = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
N, D = (grid.ravel() for grid in np.meshgrid(np.geomspace(5e7, 2e9, 5), np.geomspace(1e9, 6e10, 5)))
BUDGET = 2e21


def table(seed=3, scale=1.0):
    noise = np.exp(0.003 * np.random.default_rng(seed).standard_normal(N.size))
    return {"N": N, "D": D, "loss": LAW.loss(scale * N, D) * noise}


RESULTS = {
    "forecast": lambda: sl.forecast(table(), at=[(4e9, 1e11), (8e9, 2e11)], level=0.8),
    "budgets": lambda: sl.forecast(table(), budget=[BUDGET, 2 * BUDGET]),
    "plan": lambda: sl.plan(table(), budget=BUDGET),
    "plans": lambda: sl.plan(table(), budget=[BUDGET, 3 * BUDGET], level=0.8, inference_tokens=1e11),
    "loss": lambda: sl.plan(table(), loss=2.2, probability=0.9),
    "limited": lambda: sl.plan(table(), budget=BUDGET, unique_data=2e10),
    "fit": lambda: sl.plan(sl.fit(table(), bootstrap=30), budget=BUDGET),
    "law": lambda: sl.plan(LAW, budget=BUDGET, cost="6nd"),
    "comparison": lambda: sl.compare(table(), table(4, 1.3), table(5, 0.8), budget=[BUDGET], names="abc"),
    "sizes": lambda: sl.compare(table(), table(4, 1.3), at=[(4e9, 1e11)], level=0.8, seed=5),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_made_again_without_its_table(tmp_path, name):
    """The same JSON to the last digit; the file says the version and, where there are runs, their hash."""
    path = tmp_path / "kept.json"
    found = RESULTS[name]()
    found.save(path)
    again = sl.load(path)
    assert type(again) is type(found)
    assert json.dumps(again.as_dict()) == json.dumps(found.as_dict())
    content = json.loads(path.read_text())
    assert content["version"] == sl.__version__
    assert "data_hash" in path.read_text() or "law" in content


def test_a_kept_result_is_asked_anew(tmp_path):
    path = tmp_path / "kept.json"
    sl.forecast(table(), at=[(4e9, 1e11)]).save(path)
    kept = sl.load(path)
    there = [(9e9, 2e11)]
    assert sl.forecast(kept, at=there).as_dict() == sl.forecast(table(), at=there).as_dict()
    assert kept.predict(9e9, 2e11).loss == sl.forecast(table(), at=there).points[0].loss
    assert sl.plan(kept, budget=BUDGET).as_dict() == sl.plan(table(), budget=BUDGET).as_dict()
    sl.plan(table(), budget=BUDGET).save(path)
    assert sl.plan(sl.load(path), budget=5e21).as_dict() == sl.plan(table(), budget=5e21).as_dict()
    sl.compare(table(), table(4, 1.3), budget=BUDGET).save(path)
    own = sl.compare(table(), table(4, 1.3), budget=5e21)
    assert sl.compare(sl.load(path), budget=5e21).as_dict() == own.as_dict()


def test_the_hash_does_not_depend_on_the_order_of_the_rows(tmp_path):
    """A planted change of one loss in the eighth digit does."""
    hashes = []
    order = np.random.default_rng(0).permutation(N.size)
    for rows, change in ((np.arange(N.size), 0.0), (order, 0.0), (order, 1e-8)):
        runs = {name: values[rows] for name, values in table().items()}
        runs["loss"] = runs["loss"] * (1.0 + change * (np.arange(N.size) == 3))
        sl.forecast(runs, at=[(4e9, 1e11)]).save(tmp_path / "kept.json")
        hashes.append(json.loads((tmp_path / "kept.json").read_text())["data_hash"])
    assert hashes[0] == hashes[1] != hashes[2]


def paths(content, here=()):
    """Every place of nested JSON, arrays by their first entry only."""
    yield here
    if isinstance(content, dict):
        for name, part in content.items():
            yield from paths(part, (*here, name))
    elif isinstance(content, list) and content:
        yield from paths(content[0], (*here, 0))


def planted(content, place, value):
    if not place:
        return value
    copy = dict(content) if isinstance(content, dict) else list(content)
    copy[place[0]] = planted(copy[place[0]], place[1:], value)
    return copy


@pytest.mark.parametrize("name", ["forecast", "plan", "sizes"])
def test_nothing_in_a_file_is_trusted(tmp_path, name):
    """At every place something of another type: one line, or the same kind of result, never another error."""
    path = tmp_path / "kept.json"
    made = RESULTS[name]()
    made.save(path)
    content = json.loads(path.read_text())
    places, loaded = list(paths(content)), []
    for i, place in enumerate(places):
        value = (None, "x", -1.0, [[[]]], {"a": {}}, 10**400)[i % 6]
        path.write_text(json.dumps(planted(content, place, value)))
        with suppress(InputError):
            loaded.append(type(sl.load(path)))
    assert set(loaded) <= {type(made)}
    assert len(loaded) < 0.5 * len(places)  # most are refused
    for text in ("{", "[" * 100_000, '{"a":' * 100_000, "null", "3", "\x00"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"is not JSON|is no saved result"):
            sl.load(path)


def command(capsys, *arguments, code=0):
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, arguments)))
    out = capsys.readouterr()
    assert stop.value.code == code, out.err
    return out


def test_the_commands_keep_and_read(tmp_path, capsys):
    for name, rows in (("a", table()), ("b", table(4, 1.3))):
        lines = [",".join(map(repr, map(float, row))) for row in zip(*rows.values(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("N,D,loss\n" + "\n".join(lines) + "\n")
    runs, other, kept = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "kept.json"
    for first in (
        ["fit", runs, "--bootstrap", "30"],
        ["forecast", runs, "--at", "N=4B,D=100B"],
        ["plan", runs, "--budget", "2e21,4e21"],
        ["compare", runs, other, "--budget", "2e21"],
    ):
        said = command(capsys, *first, "--json", "--out", kept).out
        assert command(capsys, first[0], "--from", kept, "--json").out == said
    err = command(capsys, "compare", "--from", kept, "--names", "x,y", code=2).err
    assert "are kept as they are" in err
    command(capsys, "forecast", runs, "--at", "N=4B,D=100B", "--out", kept)
    own = command(capsys, "plan", runs, "--budget", "5e21", "--json").out
    assert command(capsys, "plan", "--from", kept, "--budget", "5e21", "--json").out == own
    for wrong, says in (
        (["compare", "--from", kept, "--budget", "2e21"], "is a kept forecast"),
        (["forecast", runs, "--from", kept], "together"),
        (["forecast"], "is missing"),
        (["plan", "--from", runs, "--budget", "2e21"], "is not JSON"),
        (["plan", runs, "--budget", "2e21", "--out", runs], "out"),
        (["fit", runs, "--law", "all", "--out", kept], "keeps one law"),
        (["plan", "--alpha1", "1", "--alpha2", "0.3", "--budget", "1e6", "--out", kept], "by the theory"),
    ):
        err = command(capsys, *wrong, code=2).err
        assert says in err
        assert err.count("\n") == 1
