"""The page in a real browser: phase diagram, state in the address, states in words, accessibility."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from urllib.parse import parse_qs, urlsplit

import pytest

from conftest import Served, check_sound

PHONE = {"viewport": {"width": 390, "height": 844}}
DESK = {"viewport": {"width": 1280, "height": 900}}
VIEWS = [
    "?view=phase",
    "?view=surface&D=300&surface=leading",
    "?view=surface&along=xi&N=8&surface=leading",
    "?view=surface&solver=sgd&D=40",
]


def state(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def quantity(page, name):
    return page.inner_text(f'[data-quantity="{name}"]')


def diagram_place(page, alpha1, alpha2):
    """Where a point of the diagram is on the screen."""
    box = page.locator("svg.diagram").bounding_box()
    x = 46 + (alpha1 + 1.4) / 4.4 * (460 - 46 - 10)
    y = 10 + (2.0 - alpha2) / 6.0 * (400 - 40 - 10)
    return box["x"] + x / 460 * box["width"], box["y"] + y / 400 * box["height"]


def test_the_first_view_tells_the_story(watch):
    page = watch(**DESK).open()
    words = "Ten times the parameters divide the loss by 200, ten times the data only by 14."
    assert words in page.inner_text(".story")
    assert [quantity(page, name) for name in ("regime", "alpha_N", "alpha_D", "nu")] == [
        "asymmetric",
        "2.3",
        "1.15",
        "–",
    ]
    assert page.locator(".uplot canvas").count() == 1
    assert "slope −2.3" in page.inner_text(".legend")
    assert state(page) == {}


def test_a_click_moves_the_point_and_the_address(watch):
    watched = watch(**DESK)
    page = watched.open()
    page.mouse.click(*diagram_place(page, -0.5, 1.0))
    watched.settled("alpha1=-0.5")
    assert quantity(page, "regime") == "symmetric"
    found = state(page)
    assert float(found["alpha1"]) == pytest.approx(-0.5, abs=0.02)
    assert float(found["alpha2"]) == pytest.approx(1.0, abs=0.02)
    assert page.input_value("[data-control=alpha1] input[type=number]") == found["alpha1"]
    assert page.input_value("[data-control=alpha1] input[type=range]") == found["alpha1"]


def test_the_point_can_be_dragged_into_failure(watch):
    watched = watch(**DESK)
    page = watched.open()
    places = [diagram_place(page, 1.0 + 0.2 * step, 0.3 - 0.4 * step) for step in range(6)]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
    page.mouse.up()
    page.wait_for_selector('[data-quantity="regime"]:has-text("can fail")')
    found = state(page)
    expected = (float(found["alpha1"]) + float(found["alpha2"]) + 1.0) / (-float(found["alpha2"]) - 1.0)
    watched.settled(f"alpha2={found['alpha2']}")
    assert float(quantity(page, "nu")) == pytest.approx(expected, rel=1e-3)
    page.mouse.move(*diagram_place(page, 0.0, 1.0))  # the button is up: nothing follows
    assert state(page) == found


def test_the_keyboard_moves_everything(watch):
    watched = watch(**DESK)
    page = watched.open()
    page.focus(".diagram-frame")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    watched.settled("alpha1=1.05", "alpha2=0.25")
    page.focus("[data-control=alpha2] input[type=range]")
    page.keyboard.press("ArrowLeft")
    watched.settled("alpha2=0.24")
    page.focus("[data-control=inputs] input:checked")
    page.keyboard.press("ArrowRight")
    watched.settled("inputs=dense")
    assert quantity(page, "alpha_D") == quantity(page, "alpha_N")
    page.get_by_role("button", name="Loss surface").press("Enter")
    page.wait_for_selector("[aria-current=page]:has-text('Loss surface'):focus")


def test_a_question_asked_again_on_its_way_is_answered(watch):
    watched = watch(**DESK)
    page = watched.open()
    keys = ["ArrowRight", "ArrowLeft", "ArrowRight"]
    page.eval_on_selector(
        ".diagram-frame",
        "(node, keys) => keys.forEach((key) => node.dispatchEvent(new KeyboardEvent('keydown', { key })))",
        keys,
    )
    watched.settled("alpha1=1.05", "alpha2=0.3")


def test_outside_the_boundary_the_point_stays_and_the_condition_is_named(watch):
    watched = watch(**DESK)
    page = watched.open()
    page.mouse.click(*diagram_place(page, 0.0, -3.0))
    page.wait_for_selector(".card[data-state=refused]")
    assert "alpha1 + alpha2 + 1 must be positive" in page.inner_text(".card[data-state=refused] .said")
    assert float(state(page)["alpha2"]) == pytest.approx(-3.0, abs=0.02)
    box = page.locator("svg.diagram .dot").bounding_box()
    x, y = diagram_place(page, 0.0, -3.0)
    assert box["x"] + box["width"] / 2 == pytest.approx(x, abs=2)
    assert box["y"] + box["height"] / 2 == pytest.approx(y, abs=2)


def test_the_address_holds_the_state_and_gives_it_back(watch):
    watched = watch(**DESK)
    asked = "along=D&N=8&alpha1=1.5&dimension=500&ridge=0.1&surface=leading&unknown=1"
    page = watched.open(f"?view=surface&{asked}")
    assert page.input_value("[data-control=alpha1] input[type=number]") == "1.5"
    assert page.input_value("[data-control=N] input") == "8"
    assert "N = 8" in page.inner_text(".legend")
    page.fill("[data-control=noise] input", "0.01")
    page.keyboard.press("Enter")
    watched.settled("noise=0.01")
    kept = state(page)
    view = {"view": "surface", "along": "D", "N": "8", "ridge": "0.1", "noise": "0.01", "surface": "leading"}
    assert kept == view | {"alpha1": "1.5", "dimension": "500"}
    page.reload()
    watched.settled("noise=0.01")
    assert state(page) == kept


def test_what_the_address_says_is_text_and_is_validated(watch):
    watched = watch(**DESK)
    page = watched.open("?alpha1=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert "is not a number" in page.inner_text(".card[data-state=refused] .said")
    assert page.locator("img").count() == 0
    page = watched.open("?view=surface&D=1,2,3,4,5")
    assert "give at most 4" in page.inner_text(".card[data-state=refused] .said")


@pytest.mark.parametrize("query", VIEWS)
def test_every_view_fits_the_smallest_phone(watch, query):
    page = watch(viewport={"width": 320, "height": 640}).open(query)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("query", [*VIEWS, "?alpha1=-2"])
def test_every_view_is_accessible_in_both_schemes_and_fits_a_phone(watch, query):
    page = watch(**DESK).open(query)
    if page.locator(".card[data-state=refused]").count() == 0:
        page.get_by_role("button", name="Show as table").first.click()
        page.get_by_role("button", name="Copy as code").last.click()
    check_sound(page)


def test_a_phone_s_own_window_is_used(watch):
    page = watch(**PHONE, has_touch=True, is_mobile=True).open()
    assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]


def test_presets_show_the_paper_s_settings(watch):
    watched = watch(**DESK)
    page = watched.open("?ridge=3")
    page.select_option("#presets", label="Figure 5: data sweep, sparse")
    watched.settled("along=D", "N=16000", "dimension=10000", "ridge=0")
    assert state(page)["high"] == "1280"
    page.select_option("#presets", label="Figure 1: the phase diagram")
    page.wait_for_selector(".diagram-frame")  # the card of before has alpha1 = 1 too
    watched.settled("alpha1=1")


def test_a_chart_can_be_taken_away(watch, tmp_path):
    from sparselaw.inputs import SparseInputs

    page = watch(**DESK, accept_downloads=True).open()
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    files = {}
    for card in ("Where these inputs lie", "What more of either buys"):
        region = page.get_by_role("region", name=card, exact=True)
        for ending in ("PNG", "CSV", "JSON"):
            with page.expect_download() as download:
                region.get_by_role("button", name=ending).click()
            files[card, ending] = tmp_path / download.value.suggested_filename
            download.value.save_as(files[card, ending])
    for card in ("Where these inputs lie", "What more of either buys"):
        assert files[card, "PNG"].read_bytes().startswith(b"\x89PNG")
        assert json.loads(files[card, "JSON"].read_text())["alpha_N"] == model.exponents.alpha_N
    rows = files["What more of either buys", "CSV"].read_text("utf-8").splitlines()
    assert rows[0] == "series,size: N or D,loss"
    assert float(rows[1].split(",")[-1]) == pytest.approx(model.power_law().model_constant * 10**-2.3)
    page.get_by_role("button", name="Show as table").first.click()
    assert "1.15" in page.inner_text(".scroll table")


def test_copied_code_is_the_code_shown(watch):
    watched = watch(**DESK, permissions=["clipboard-read", "clipboard-write"])
    page = watched.open("?alpha1=0.5")
    page.get_by_role("button", name="Copy as code").first.click()
    for name, label in (("shell", "Shell"), ("python", "Python")):
        shown = page.inner_text(f"[data-code={name}]")
        page.get_by_title(f"Copy the {label} code").click()
        page.wait_for_selector(".copied:has-text('copied')")
        assert page.evaluate("navigator.clipboard.readText()") == shown


def test_a_server_that_is_gone_says_how_to_start_it(watch):
    server = Served()
    watched = watch(server.url, **DESK)
    page = watched.open()
    server.stop()
    page.focus(".diagram-frame")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".banner:visible")
    assert "start sparselaw explore again" in page.inner_text(".banner")
    assert page.locator(".card[data-state=gone]").count() == 2  # diagram and chart
    assert all("ERR_CONNECTION_REFUSED" in line for line in watched.said)  # the browser's own word
    watched.said.clear()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_prints_its_address_first(tmp_path, number, code):
    """The first line is the address; Ctrl-C ends it with 130; however it is ended, its folder goes away."""
    command = [sys.executable, "-m", "sparselaw", "explore", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, cwd=tmp_path, env=os.environ | {"TMPDIR": str(tmp_path)})
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert b"sparselaw explore" in urllib.request.urlopen(url).read()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code
    assert not list(tmp_path.glob("sparselaw-explore-*"))
    assert out == ""
    assert err.startswith("sparselaw: Ctrl-C ends it\n")
    assert "Traceback" not in err
