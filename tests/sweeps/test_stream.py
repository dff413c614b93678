"""The public stream of trials: as they finish, and ended when someone says so."""

from __future__ import annotations

import threading

import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.sweeps import sweep
from sparselaw.sweeps.cells import cells_of
from sparselaw.sweeps.simulate import as_frame
from sparselaw.sweeps.store import open_store
from sparselaw.trials import run as trial
from sweeps import functions

SIZES = {"N": [4, 8], "D": [50, 100]}


def test_simulate_is_the_stream_to_its_end(tmp_path):
    runs = list(sl.simulate_stream(functions.INPUTS, **SIZES, seeds=3, store=tmp_path / "s.sqlite"))
    frame = as_frame(sorted(runs, key=lambda run: (run[0].N, run[0].D, run[0].seed)))
    pd.testing.assert_frame_equal(frame, sl.simulate(functions.INPUTS, **SIZES, seeds=3))
    assert len(cells_of(runs)) == 4
    again = list(sl.simulate_stream(functions.INPUTS, **SIZES, seeds=3, store=tmp_path / "s.sqlite"))
    assert {task.id: record for task, record in again} == {task.id: record for task, record in runs}


@pytest.mark.parametrize(
    "bad", [{"N": 0}, {"features": "foo"}, {"workers": 0}, {"D": 10**13}, {"solver": "ridge"}]
)
def test_bad_input_is_refused_by_the_call_itself(bad):
    with pytest.raises(sl.InputError):
        sl.simulate_stream(functions.INPUTS, **{"N": 4, "D": 50, **bad})


@pytest.mark.parametrize("how", ["event", "close"])
def test_ended_from_another_thread_while_a_trial_runs_that_never_ends(tmp_path, monkeypatch, log, how):
    """As a web page does: one thread goes through the stream, another one cancels."""
    monkeypatch.setattr(trial, "run", functions.gated)
    monkeypatch.setattr(sweep, "MOST_IN_BATCH", 1)
    functions.allow(2)
    stop, break_off, seen = threading.Event(), threading.Event(), []
    runs = sl.simulate_stream(
        functions.INPUTS, N=[64], D=10**7, seeds=20, store=tmp_path / "s.sqlite", workers=2, stop=stop
    )  # long by its estimate, so that it goes to workers

    def go_through():
        for run in runs:
            seen.append(run)
            if how == "close" and len(seen) == 2:
                break_off.wait(functions.HANGS)
                runs.close()

    thread = threading.Thread(target=go_through)
    thread.start()
    functions.wait_until(lambda: len(seen) == 2 and len(log()) >= 3)
    (break_off if how == "close" else stop).set()
    thread.join(functions.HANGS)
    assert not thread.is_alive()
    with open_store(tmp_path / "s.sqlite", read_only=True) as store:
        assert sorted(store.find([task.id for task, _ in seen])) == sorted(task.id for task, _ in seen)
        assert len(store.runs()) == len(seen) == 2
