"""Features: a matrix on the page is measured as the library measures it; what is no matrix is refused."""

import io
import threading

import pytest
from scipy import sparse

import sparselaw as sl
from conftest import check_sound
from sparselaw.explore.session import Session

DESK = {"viewport": {"width": 1280, "height": 900}}


def matrix():
    return sparse.random(400, 300, density=0.02, rng=1, format="csr")


def npz():
    file = io.BytesIO()
    sparse.save_npz(file, matrix())
    return file.getvalue()


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        made.bench.workers = 1
        yield made


@pytest.fixture(autouse=True)
def played(session, served, monkeypatch):
    """The workers' part is played here: a worker takes seconds to import, and tests of trials have one."""
    for made in (session, served.session):
        monkeypatch.setattr(made.bench, "map", lambda _stop, work, items: ((i, work(i)) for i in items))


def lines(session, given, body=b"", question="measure"):
    return list(session.lines(f"features/{question}", given, body, threading.Event()))


def test_what_is_measured_is_what_the_library_measures(session):
    reading, answer, end = lines(session, {"file_name": "../mine.npz", "binary": "1"}, npz())
    assert reading == {"reading": "mine.npz"}
    assert end == {"end": "done"}
    expected = sl.measure(matrix(), binary=True).as_dict()
    found = answer["measured"]
    for key in ("rows", "features", "seen", "nonzeros", "curve", "windows", "regime"):
        assert found[key] == expected[key]
    assert found["source"] == "mine.npz"
    assert answer["charts"]["seen"]["series"][0]["y"] == [point["K"] for point in expected["curve"]]
    assert answer["code"]["shell"] == "sparselaw measure --binary mine.npz"
    assert "binary=True" in answer["code"]["python"]


def test_what_is_no_matrix_is_refused_by_the_person_s_name(session):
    for name, body in (("broken.npz", b"no archive"), ("empty.npz", b"")):
        end = lines(session, {"file_name": f"/etc/{name}"}, body)[-1]
        assert end["end"] == "refused"
        assert name in end["refused"]
        assert "sparselaw-explore" not in end["refused"]


def test_the_learning_curve_is_the_library_s(session):
    reading, answer, end = lines(session, {"file_name": "my words.npz"}, npz(), "learn")
    assert (reading, end) == ({"reading": "my words.npz"}, {"end": "done"})
    expected = sl.learn(matrix()).as_dict()
    for key in ("curve", "widths", "errors", "verdict", "limited_by"):
        assert answer["learned"][key] == expected[key]
    drawn = {series["label"]: series for series in answer["charts"]["learned"]["series"]}
    assert drawn["cavity"]["y"] == [point["cavity"] for point in expected["curve"]]
    assert drawn["measured, 95 % interval"]["high"] == [p["measured"]["high"] for p in expected["curve"]]
    assert answer["charts"]["widths"]["series"][0]["x"] == [point["N"] for point in expected["widths"]]
    assert answer["code"]["shell"] == "sparselaw learn 'my words.npz'"


def test_what_cannot_be_learned_is_refused(session):
    file = io.BytesIO()
    sparse.save_npz(file, matrix()[:20])
    end = lines(session, {"file_name": "few.npz"}, file.getvalue(), "learn")[-1]
    assert end["refused"] == "file=few.npz: has fewer than 64 rows; give more rows"


def test_on_the_page(watch, tmp_path):
    watched = watch(**DESK)
    page = watched.page
    page.goto(f"{watched._url}?view=features")
    broken, good = tmp_path / "broken.npz", tmp_path / "good.npz"
    broken.write_bytes(b"no archive")
    good.write_bytes(npz())
    page.set_input_files("#features-file", broken)
    page.wait_for_selector("[data-view=features][data-state=refused] > .said:has-text('broken.npz')")
    page.set_input_files("#features-file", good)
    page.wait_for_selector("[data-view=features][data-state=done]")
    assert "good.npz: regime" in page.inner_text("[aria-label='What was measured'] .lead")
    page.check("#features-binary")
    page.wait_for_selector("[data-view=features][data-state=done][data-binary='1']")
    assert "binary=1" in page.url
    page.click("text=Compare its learning curve")
    page.wait_for_selector(
        "[data-view=features][data-state=done] [aria-label='Which theory describes it'] li"
    )
    assert page.locator(
        "#features-learned canvas, [aria-label='Loss against rows'] canvas"
    ).first.is_visible()


def test_a_dropped_file_is_measured(watch):
    watched = watch(**DESK)
    page = watched.page
    page.goto(f"{watched._url}?view=features")
    drop = """([zone, bytes]) => {
      const given = new DataTransfer();
      given.items.add(new File([new Uint8Array(bytes)], "dropped.npz"));
      zone.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, [page.wait_for_selector(".view .zone"), list(npz())])
    page.wait_for_selector("[data-view=features][data-state=done]")
    assert "dropped.npz: regime" in page.inner_text("[aria-label='What was measured'] .lead")
    check_sound(page)
