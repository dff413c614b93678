"""How soon the page answers: from the command to the first page, and from a slider to the drawn frame.

    python benchmarks/slider_to_frame.py | python docs/quote_results.py --keep slider-to-frame

starts ``sparselaw explore`` and drives the browser of the tests through it.
Each move of the slider is a new value, so that nothing is answered from a cache; the time runs from the
slider's event to the frame after the curve was drawn (the sketch, which is drawn first), and then from the
last move to the sharp curve. Other work on the machine adds to every number. A short run: ``--moves 5``.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import CHROMIUM, MISSING

MOVES = 25
SHARP = "slider to frame, loss against N, three curves of 120 points"
VIEWS = {
    "slider to frame, Phase": "?view=phase",
    SHARP: "?view=surface",
    "slider to frame, loss against D, three curves": "?view=surface&along=D",
    "slider to frame, their collapse": "?view=surface&along=xi",
    "slider to frame, Budget": "?view=budget",
    "slider to frame, training stopped early, three curves": "?view=surface&solver=gd",
}
MOVE = """async (value) => {
  const slider = document.querySelector("[data-control=alpha1] input[type=range]");
  const card = `.view .card:not([data-state=computing])[data-drawn*="alpha1=${value}&"]`;
  const drawn = () => document.querySelector(card);
  const began = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((resolve) => {
    const watch = new MutationObserver(() => drawn() && (watch.disconnect(), requestAnimationFrame(resolve)));
    watch.observe(document.querySelector(".view"), { subtree: true, attributes: true, childList: true });
  });
  return performance.now() - began;
}"""


def main() -> None:
    moves = int(sys.argv[2]) if sys.argv[1:2] == ["--moves"] else MOVES
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        sys.exit(MISSING)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {moves} moves", file=sys.stderr)
    print("| what | median time |\n|---|---|")
    began = time.perf_counter()
    command = [sys.executable, "-m", "sparselaw", "explore", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        print(f"| from the command to its address | {time.perf_counter() - began:.1f} s |")
        urllib.request.urlopen(url).read()
        print(f"| from the command to the first page | {time.perf_counter() - began:.1f} s |")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            for name, query in VIEWS.items():
                page.goto(url + query)
                page.wait_for_selector(".view .card[data-state=done]")
                page.wait_for_selector("#explore:not(:has([data-state=computing]))")
                times = [page.evaluate(MOVE, f"{round(0.8 + 0.01 * i, 2):g}") for i in range(moves)]
                middle, worst = statistics.median(times), sorted(times)[-2]
                print(f"| {name} | {middle:.0f} ms |", flush=True)
                print(f"{name}: all moves but one below {worst:.0f} ms", file=sys.stderr)
                if name == SHARP:
                    rested = time.perf_counter()
                    page.wait_for_selector(".view .card[data-drawn][data-state=done]")
                    spent = time.perf_counter() - rested
                    name = "the sharp curves in the place of the sketch, after the last move"
                    print(f"| {name} | {spent:.1f} s |")
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


if __name__ == "__main__":
    main()
