"""The examination finds nothing wrong here, and finds what is wrong where something is."""

from __future__ import annotations

import json

import pytest

from sparselaw import doctor
from sparselaw.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code, capsys.readouterr().out


def test_every_number_is_as_stored(capsys):
    code, out = run(capsys, "doctor", "--json")
    found = json.loads(out)
    assert code == 0, found["status"]
    assert found["status"] == "ok"
    assert len(found["self_test"]) == len(doctor.CHECKS)
    assert found["versions"]["numpy"]
    assert {"dask", "parquet"} <= set(found["extras"])
    assert "dev" not in found["extras"]


@pytest.fixture
def one_check(monkeypatch):
    """A self-test of one number, stored as 1."""

    def plant(compute):
        monkeypatch.setattr(doctor, "CHECKS", {"planted": (compute, 1.0)})

    return plant


def test_a_wrong_number_is_found(one_check, capsys):
    one_check(lambda: 1.0 + 2.0 * doctor.TOLERANCE)
    code, out = run(capsys, "doctor")
    assert code == 1
    assert "self-test failed: planted" in out
    assert "where 1 is stored" in out


def test_a_crash_is_an_outcome(one_check):
    def broken():
        raise ValueError("no such thing\nand more")

    one_check(broken)
    heard = []
    found = doctor.examine(lambda done, of, name: heard.append((done, of, name)))
    assert found.status == "self-test failed: planted"
    assert found.checks[0].outcome == "ValueError: no such thing"
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["self_test"][0]["found"] is None
    assert [name for _, _, name in heard] == ["planted"]
    assert "planted" in found._repr_html_()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(doctor, "_is_there", lambda package: package != "distributed")
    found = doctor.missing_extras()
    assert found["dask"] == ["distributed"]
    assert found["parquet"] == []
