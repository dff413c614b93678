"""Full curves come from a process of their own; a sketch never does, and nothing is lost when it fails."""

import http.client
import threading
from concurrent.futures import Future

import pytest

from sparselaw.explore.session import LongAnswers, Session, answer

POINT = {"alpha1": "1", "alpha2": "0.3"}
QUERY = "alpha1=1&alpha2=0.3&D=60&low=4&high=30"


class Played:
    """Plays the part of the other process: ``work`` makes the future."""

    def __init__(self, work):
        self.work, self.asked = work, []

    def submit(self, function, *args):
        self.asked.append(args)
        return self.work(function, *args)

    def abort(self):
        pass


def at_once(function, *args):
    future = Future()
    future.set_result(function(*args))
    return future


def broken(*_):
    future = Future()
    future.set_exception(RuntimeError("the process died"))
    return future


@pytest.mark.parametrize(
    ("name", "given", "long"),
    [
        ("surface", {}, True),
        ("surface", {"draft": "yes"}, False),
        ("surface", {"surface": "leading"}, False),
        ("surface", {"surface": "leading", "along": "D"}, True),
        ("surface", {"surface": "leading", "solver": "gd"}, True),
        ("surface", {"inputs": "measured"}, False),
        ("budget", {"from": "runs"}, False),
        ("budget/frontier", {}, True),
        ("phase", {}, False),
    ],
)
def test_which_answers_take_long(name, given, long):
    answers = LongAnswers()
    assert not answers.takes(name, POINT | given)  # not prepared: answered here
    answers._pool = Played(at_once)
    assert answers.takes(name, POINT | given) is long
    answers.close()
    assert not answers.takes(name, POINT | given)


def values(served):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("GET", f"/a-token-for-tests/api/surface?{QUERY}")
    found = connection.getresponse().read()
    connection.close()
    return found


@pytest.mark.parametrize("work", [at_once, broken])
def test_the_answer_is_the_same_wherever_it_comes_from(served, monkeypatch, work):
    here = values(served)
    monkeypatch.setattr(served.session.long, "_pool", played := Played(work))
    assert values(served) == here
    assert len(played.asked) == 1


def test_a_refusal_is_an_answer():
    assert answer("surface", POINT | {"ridge": "-1"})["name"] == "ridge"


def test_what_nobody_waits_for_is_given_up(served, monkeypatch):
    asked, ended = Future(), threading.Event()
    asked.add_done_callback(lambda _: ended.set())
    began = threading.Event()

    def never(*_):
        began.set()
        return asked

    monkeypatch.setattr(served.session.long, "_pool", Played(never))
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("GET", f"/a-token-for-tests/api/surface?{QUERY}")
    assert began.wait(60)
    connection.close()
    assert ended.wait(60)
    assert asked.cancelled()


@pytest.mark.slow
def test_a_real_process_answers_and_ends_with_the_session():
    with Session() as session:
        session.long.prepare()
        given = POINT | {"D": "60", "low": "4", "high": "30"}
        there, here = session.long.submit("surface", given).result(120), session.values("surface", given)
        assert there["code"] == here["code"]
        for one, other in zip(there["chart"]["series"], here["chart"]["series"], strict=True):
            assert one["y"] == pytest.approx(other["y"], rel=1e-6)
