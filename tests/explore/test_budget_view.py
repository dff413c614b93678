"""Budget and failure: what the server says is what the library says, and the page shows it."""

import json
import threading

import numpy as np
import pytest

import sparselaw as sl
from conftest import check_sound
from sparselaw.explore.session import Session

DESK = {"viewport": {"width": 1280, "height": 900}}
POINT = {"alpha1": "1", "alpha2": "0.3"}
FAILING = {"alpha1": "1.5", "alpha2": "-2"}


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        made.bench.workers = 1
        yield made


def run_code(answer):
    """What the last line of the copied Python gives."""
    *before, last = answer["code"]["python"].split("\n")
    space = {}
    exec("\n".join(before), space)
    return eval(last, space)


@pytest.fixture(scope="module")
def sharp(session):
    """The valley of the sharp surface: seconds, so it is asked for once."""
    return session.values("budget", {**POINT, "budget": "1e8", "surface": "sharp"})


@pytest.mark.parametrize("surface", ["sharp", "leading"])
def test_the_plan_is_the_library_s_and_its_code_gives_it(session, sharp, surface):
    leading = {**POINT, "budget": "1e8", "surface": "leading"}
    found = sharp if surface == "sharp" else session.values("budget", leading)
    own = run_code(found)
    assert found["plan"] == json.loads(json.dumps(own.as_dict(), allow_nan=False))
    named = "" if surface == "sharp" else " --surface leading"
    assert found["code"]["shell"] == (
        f"sparselaw plan --alpha1 1 --alpha2 0.3{named} --budget 100000000 --cost direct"
    )


def test_the_valley_has_its_floor_where_the_plan_says(sharp):
    curve, best, other = sharp["chart"]["series"]
    lowest = min(y for y in curve["y"] if y is not None)
    assert lowest == pytest.approx(best["y"][0], rel=0.02)
    assert best["label"].endswith("N < K")
    assert other["label"].endswith("N > K")


@pytest.mark.parametrize(
    ("point", "budget"),
    [
        (POINT, "1e8"),
        (POINT, "1e15"),
        (POINT | {"cost": "6nd"}, "1e10"),
        (POINT | {"dimension": "3000"}, "1e10"),
        ({"alpha1": "2", "alpha2": "-2.5"}, "1e8"),
        ({"alpha1": "0.3", "alpha2": "0.5"}, "1e8"),
    ],
)
def test_a_sketch_of_the_valley_is_near_it(session, point, budget):
    given = {**point, "budget": budget, "surface": "leading"}
    full, sketch = (session.values("budget", given | {"draft": draft}) for draft in ("no", "yes"))
    assert "plan" not in sketch
    curve, few = full["chart"]["series"][0], sketch["chart"]["series"][0]
    assert few["y"] != curve["y"]
    whole = [(x, y) for x, y in zip(few["x"], few["y"], strict=True) if y is not None]
    known = [(x, y) for x, y in zip(curve["x"], curve["y"], strict=True) if y is not None]
    inside = [(x, y) for x, y in whole if known[0][0] <= x <= known[-1][0]]
    assert len(inside) > 5
    own = np.interp(*(np.log(v) for v in ([x for x, _ in inside], *zip(*known, strict=True))))
    assert np.exp(own) == pytest.approx([y for _, y in inside], rel=0.08)


def test_a_budget_that_sees_every_coordinate_is_planned(session):
    """K has no scatter then, and rounding may leave less than none."""
    given = {**POINT, "dimension": "3000", "budget": "1e20", "surface": "leading"}
    assert "plan" in session.values("budget", given)


def test_the_frontier_meets_the_plan_and_its_limit(session):
    found = session.values("budget/frontier", {**POINT, "budget": "1e8", "surface": "sharp"})
    limit, _, own = found["chart"]["series"]
    assert limit["label"].startswith("N < K: 2.76 C^{−0.575}")
    at = own["x"].index(pytest.approx(1e8))
    assert own["y"][at] == pytest.approx(found_loss := 7.03e-5, rel=0.01)
    assert found_loss > 2.76 * 1e8**-0.575
    quick = session.values("budget/frontier", {**POINT, "budget": "1e8", "surface": "leading"})
    assert [series["label"] for series in quick["chart"]["series"]] == [
        series["label"] for series in found["chart"]["series"][:2]
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"budget": "-1"}, "budget=-1"),
        ({"budget": "1e99"}, "beyond every machine"),
        ({"cost": "magic"}, "is not one of the costs"),
        ({"from": "runs"}, "no table is here yet"),
        ({"from": "../../etc"}, "from="),
        ({"alpha1": "-2"}, "alpha1"),
    ],
)
def test_what_cannot_be_planned_is_refused(session, given, words):
    assert words in session.values("budget", {**POINT, **given})["refused"]


def test_the_spike_is_exact_and_step_is_two_over_threshold(session):
    found = session.values("failure", {**FAILING, "failure_D": "100", "threshold": "2"})
    assert found["chart"]["series"][0]["y"][0] == pytest.approx(0.0232, abs=1e-4)
    again = session.values("failure", {**FAILING, "failure_D": "100", "step": "1"})
    assert again["chart"] == found["chart"]
    both = session.values("failure", {**FAILING, "step": "1", "threshold": "2"})
    assert "give one of the two" in both["refused"]
    none = session.values("failure", POINT)
    assert "no rare spike" in none["chart"]["notes"][0]
    assert none["chart"]["series"][0]["y"][0] == 0.0
    many = session.values("failure", {**FAILING, "failure_D": "1:100000:60"})
    assert "give at most" in many["refused"]


def test_the_bulk_comes_point_by_point(session, monkeypatch):
    """The workers' part is played here: a worker compiles for seconds."""
    monkeypatch.setattr(session.bench, "map", lambda _, work, items: ((i, work(i)) for i in items))
    given = {**FAILING, "failure_D": "5,20", "threshold": "2"}
    lines = list(session.lines("failure/bulk", given, b"", threading.Event()))
    assert lines[0] == {"points": 2}
    assert [line["done"] for line in lines[1:3]] == [1, 2]
    assert lines[-1] == {"end": "done"}
    own = sl.failure_probability(sl.SparseInputs(alpha1=1.5, alpha2=-2.0), D=[5, 20], threshold=2.0)
    assert [line["point"] for line in lines[1:3]] == own.as_dict()["points"]


def test_budget_on_the_page(watch):
    watched = watch(**DESK)
    page = watched.open("?view=budget&budget=1e8&surface=leading")
    assert "94.53" in page.inner_text("[aria-label='The best N and D'] table")
    assert page.locator("[aria-label='What a wrong N costs'] tbody tr").count() == 9
    page.select_option("#menu-cost", "6nd")
    page.wait_for_selector("[aria-label='Loss along the budget'][data-drawn*='cost=6nd'][data-state=done]")
    assert "Cost 6 N D" in page.inner_text("[aria-label='The best N and D']")
    page.fill("[data-control=budget] input", "none")
    page.press("[data-control=budget] input", "Enter")
    page.wait_for_selector(".card[data-state=refused]:has-text('budget=none')")
    page.fill("[data-control=budget] input", "1e7")
    page.press("[data-control=budget] input", "Enter")
    watched.settled("budget=1e7")
    check_sound(page)


def test_failure_on_the_page(watch):
    page = watch(**DESK).open("?view=failure&alpha1=1.5&alpha2=-2&threshold=2&failure_D=10:1000:5")
    assert "exact spike" in page.inner_text(".legend")
    assert "slope −ν = −0.5" in page.inner_text(".legend")
    assert page.get_by_role("button", name="Sample the bulk").is_enabled()
    check_sound(page)
