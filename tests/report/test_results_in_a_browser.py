"""Pages of results as a reader sees them: accessible in both schemes, no wider than a small phone."""

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.report import ResultPage, Section, results, write_result

STEP = np.arange(100.0, 10_001.0, 100.0)
LONG = "a_run_with_a_name_that_is_" + "much_" * 12 + "longer_than_a_phone_is_wide"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Pictures, a table, a warning, and a name without a space that is longer than a line."""
    rate = np.where(STEP < 8000, 3e-4, 3e-4 * (10_000 - STEP) / 2000)
    curve = STEP, rate, 3 + 0.3 * (STEP / 5000) ** -0.5
    found = sl.fit_curves({LONG: curve}, schedules="cosine:12000", warmup=0)
    made = results.curve_page(found)
    path = tmp_path_factory.mktemp("results") / "page.html"
    sections = [*made.sections, Section("Spent", ("compute",), [["1.5 x 10^23 FLOP"]])]
    write_result(path, ResultPage(title=LONG, sections=sections, lead=made.lead, warnings=made.warnings))
    return path


def test_axe_and_a_small_phone(page, chromium):
    from axe_playwright_python.sync_playwright import Axe

    opened = chromium.new_page()
    opened.goto(page.as_uri())
    for scheme in ("light", "dark"):
        opened.emulate_media(color_scheme=scheme)
        found = Axe().run(opened)
        assert found.violations_count == 0, found.generate_report()
    opened.set_viewport_size({"width": 320, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 320
    cell = opened.locator("td[data-label=compute]")
    assert cell.inner_html() == "1.5×10<sup>23</sup> FLOP"
    assert cell.bounding_box()["height"] < 30  # one line: its parts stay side by side
    opened.close()
