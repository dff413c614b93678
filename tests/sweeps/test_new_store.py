"""A new kind of store is one class and one line of registration: here lines of JSON in a file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.sweeps.store import KINDS, Store, Study, open_store
from sparselaw.sweeps.store.base import decode_record, encode_record, study_id, study_of
from sweeps import functions

MARK = '{"runs of": "sparselaw"}\n'


class LinesStore(Store):
    """Each run is a line that is added to the file; the last line of a task counts."""

    endings = (".lines",)

    def __init__(self, path, *, read_only=False):
        self.path = Path(os.path.realpath(path))
        if not self.path.exists():
            if read_only:
                raise sl.InputError("store", path, "does not exist", "name another file with --store")
            self.path.write_text(MARK)
        lines = self.path.read_text().splitlines()[1:]
        self._lines = {line["id"]: line for line in map(json.loads, lines)}

    @classmethod
    def recognises(cls, start):
        return start.startswith(MARK.encode())

    def add(self, runs):
        with self.path.open("a") as file:
            for task, record, seconds in runs:
                if self._lines.get(task.id, {"status": "failed"})["status"] == "failed":
                    known = {"id": task.id, "task": task.identity(), "status": record.status}
                    line = {**known, "record": encode_record(record), "end": time.time(), "seconds": seconds}
                    self._lines[task.id] = line
                    file.write(json.dumps(line) + "\n")

    def find(self, ids):
        return {name: decode_record(self._lines[name]["record"]) for name in ids if name in self._lines}

    def runs(self, *, study=None, status=None):
        kept = [line for line in self._lines.values() if status in (None, line["status"])]
        kept = [line for line in kept if study in (None, study_id(line["task"]))]
        kept.sort(key=lambda line: [study_id(line["task"]), *(line["task"][x] for x in ("N", "D", "seed"))])
        return [(line["task"], decode_record(line["record"])) for line in kept]

    def studies(self):
        groups = {}
        for line in self._lines.values():
            groups.setdefault(study_id(line["task"]), []).append(line)
        return [self._study(name, lines) for name, lines in groups.items()]

    def _study(self, name, lines):
        tasks = [line["task"] for line in lines]
        N, D = ([task[size] for task in tasks] for size in ("N", "D"))
        return Study(
            id=name, identity=study_of(tasks[0]), runs=len(lines), cells=len(set(zip(N, D, strict=True))),
            seeds=len({task["seed"] for task in tasks}), N=(min(N), max(N)), D=(min(D), max(D)),
            failed=sum(line["status"] == "failed" for line in lines),
            finished=max(line["end"] for line in lines), seconds=sum(line["seconds"] for line in lines),
        )  # fmt: skip

    def prune(self, **conditions):
        raise NotImplementedError

    def close(self):
        pass


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr("sparselaw.sweeps.store.KINDS", [*KINDS, LinesStore])


def test_in_python(tmp_path):
    path = tmp_path / "runs.lines"
    runs = sl.simulate(functions.INPUTS, N=[4, 8], D=50, seeds=2, store=path)
    assert len(path.read_text().splitlines()) == 5
    pd.testing.assert_frame_equal(runs, sl.simulate(functions.INPUTS, N=[4, 8], D=50, seeds=2, store=path))
    assert len(path.read_text().splitlines()) == 5
    renamed = path.rename(tmp_path / "runs.sqlite")  # a file that is there is known by its content
    with open_store(renamed, read_only=True) as store:
        assert isinstance(store, LinesStore)


def test_on_the_command_line(sparselaw, tmp_path):
    study = [
        "simulate",
        "--alpha1",
        "1",
        "--alpha2",
        "0.3",
        "-N",
        "4,8",
        "-D",
        "50",
        "--seeds",
        "2",
        "--json",
    ]
    store, usual = tmp_path / "runs.lines", tmp_path / "runs.sqlite"
    answer = sparselaw(*study, "--store", store, "--out", tmp_path / "a.csv")
    assert answer == sparselaw(*study, "--store", usual, "--out", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    listed = json.loads(sparselaw("runs", "--store", store, "--json")[1])["studies"]
    expected = json.loads(sparselaw("runs", "--store", usual, "--json")[1])["studies"]
    assert [entry["cells"] for entry in listed] == [entry["cells"] for entry in expected] == [2]
    assert sparselaw("runs", "export", "--store", store, "--out", tmp_path / "c.csv")[0] == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    store.rename(tmp_path / "keep.csv")  # nor is a store of this kind written over
    assert sparselaw(*study, "--store", usual, "--out", tmp_path / "keep.csv")[0] == 2
