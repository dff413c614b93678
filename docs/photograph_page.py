"""Photographs every view of the page, at two widths and in both colour schemes, to be looked at.

``python docs/photograph_page.py FOLDER [names]`` starts ``sparselaw explore`` and drives the tests' browser.
With ``--picture`` it takes the one of the first view that stands on the page of the explorer.
"""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import CHROMIUM

WIDTHS = {"desk": (1280, 900), "phone": (320, 700)}
SCHEMES = ("light", "dark")
PICTURE = Path(__file__).parent / "images" / "explore.png"
TIMEOUT = 240_000  # a busy machine is no failure
SETTLED = "#explore:has(.card):not(:has([data-state=computing], .card[data-drawn][data-state=partial]))"

NEXT, COMPARED = "[aria-label='Runs to make next'] table", "[aria-label='Which is better'] table"

# name: the state, and what is done before the picture: "press WORDS", "check WORDS", "drop SELECTOR",
# "wait SELECTOR", "attached SELECTOR"
VIEWS: dict[str, tuple[str, list[str]]] = {
    "phase": ("?view=phase", []),
    "outside": ("?view=phase&alpha2=-3", []),
    "along-N": ("?view=surface", []),
    "along-D": ("?view=surface&along=D", []),
    "collapse": ("?view=surface&along=xi", []),
    "trials": (
        "?view=surface&D=500,5000&sizes=8,32,128&seeds=4",
        ["press Start", "wait .simulate[data-state=done]", "press Copy as code"],
    ),
    "passes": ("?view=surface&solver=sgd&noise=0.01", []),
    "relu": ("?view=surface&features=relu&D=300", ["attached [data-features=done]"]),
    "measured": ("?view=surface&inputs=measured", []),
    "budget": ("?view=budget", []),
    "runs": ("?view=runs", ["press Use the sample table", "wait [data-fit=done]"]),
    "runs-empty": ("?view=runs", []),
    "budget-runs": (
        "?view=runs",
        [
            "press Use the sample table",
            "wait [data-draws]",
            "press Budget",
            "check your runs",
            "wait .marks li",
        ],
    ),
    "next": ("?view=runs&runs_tab=next", ["press Use the sample table", f"wait {NEXT}"]),
    "compare": ("?view=runs&runs_tab=compare", ["press Use two sample tables", f"wait {COMPARED}"]),
    "curves": ("?view=curves", ["press Use the sample log", "wait .card[data-drawn][data-state=done]"]),
    "features": (
        "?view=features",
        [
            "drop #features-file",
            "wait [data-view=features][data-state=done]",
            "press Compare its learning curve with the theories",
            "wait [data-view=features][data-state=done] .results + .row + .results:not([hidden])",
        ],
    ),
    "failure": (
        "?view=failure&alpha1=1.5&alpha2=-2&failure_D=10:1000:5",
        ["press Sample the bulk", "wait [data-bulk=done]", "press Show as table"],
    ),
}


def matrix() -> bytes:
    """Features of which the j-th is active with probability j^-1.5."""
    import numpy as np
    from scipy import sparse

    active = np.random.default_rng(1).random((1500, 400)) < np.arange(1.0, 401.0) ** -1.5
    file = io.BytesIO()
    sparse.save_npz(file, sparse.csr_matrix(active.astype(float)))
    return file.getvalue()


def photograph(page: Any, url: str, query: str, steps: list[str], path: Path) -> None:
    page.goto(url + query)
    for step in ["", *steps]:
        what, _, argument = step.partition(" ")
        if what == "press":
            page.get_by_role("button", name=argument).first.click()
        elif what == "check":
            page.get_by_role("radio", name=argument).check(force=True)
        elif what == "drop":
            page.set_input_files(argument, {"name": "rare.npz", "mimeType": "", "buffer": matrix()})
        elif what == "attached":
            page.wait_for_selector(argument, state="attached")
        elif what == "wait":
            page.wait_for_selector(argument)
        elif not any(f"view={name}" in query for name in ("runs", "features", "curves")):
            page.wait_for_selector(SETTLED)
    page.wait_for_timeout(400)  # the dimming of a card that has been answered
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    print(path.name, "wider than the window" if wide[0] > wide[1] else "")
    page.screenshot(path=path, full_page=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(VIEWS)
    command = [sys.executable, "-m", "sparselaw", "explore", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

            def look(path: Path, query: str, steps: list[str], width: str, scheme: Any) -> None:
                size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
                page = browser.new_page(viewport=size, color_scheme=scheme)
                page.set_default_timeout(TIMEOUT)
                page.on("console", lambda message: print("console:", message.text))
                page.on("pageerror", lambda error: print("error:", error))
                photograph(page, url, query, steps, path)
                page.close()

            if sys.argv[1] == "--picture":
                look(PICTURE, *VIEWS["phase"], "desk", "light")
            else:
                folder.mkdir(parents=True, exist_ok=True)
                for name in names:
                    for width in WIDTHS:
                        for scheme in SCHEMES:
                            look(folder / f"{name}-{width}-{scheme}.png", *VIEWS[name], width, scheme)
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


if __name__ == "__main__":
    main()
