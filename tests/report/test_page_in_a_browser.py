"""The report as a reader sees it: in Chromium, with no network, at desktop and phone width."""

import json
import re
import subprocess

import pytest

from browser import CHROMIUM, MISSING
from sparselaw.experiments.paper import reproduce

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

# Put into a copy of the page: reports what was fetched, which images are broken, and how wide the page is.
PROBE = """<script>
addEventListener("load", () => {
  const found = {
    fetched: performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:")),
    images: document.images.length,
    broken: [...document.images].filter(i => !i.complete || i.naturalWidth === 0).length,
    overflow: document.documentElement.scrollWidth - innerWidth,
  };
  const box = document.createElement("pre"); box.id = "found"; box.textContent = JSON.stringify(found);
  document.body.append(box);
});
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    reproduce.reproduce(["figure-1"], out=folder)
    return folder / "report.html"


def browse(page, width, tmp_path, *options):
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--enable-logging=stderr", "--v=0", f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={width},900", "--virtual-time-budget=3000", *options, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.parametrize("width", [1200, 500])
def test_report_opens_whole_and_alone(page, width, tmp_path):
    copy = page.with_name(f"probe-{width}.html")
    copy.write_text(page.read_text("utf-8").replace("</body>", PROBE + "</body>"), "utf-8")
    done = browse(copy, width, tmp_path, "--dump-dom")
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S).group(1)
    found = json.loads(text.replace("&amp;", "&"))
    assert found["fetched"] == []
    assert found["images"] >= 1
    assert found["broken"] == 0
    assert found["overflow"] <= 0
    assert "CONSOLE" not in done.stderr
