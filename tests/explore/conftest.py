"""A server of the page in this process, and one browser for all tests that need one."""

from __future__ import annotations

import json
import re
import threading

import pytest
import uvicorn

from sparselaw.explore.serve import listen
from sparselaw.explore.session import Session
from sparselaw.explore.web import impatient_protocol, web_app

TOKEN = "a-token-for-tests"
# Charts follow a window in the frames after it has changed; the page's policy forbids to wait by a string.
NARROW = """async () => {
  const width = () => document.documentElement.scrollWidth;
  for (let i = 0; i < 300 && width() > innerWidth; i++) await new Promise(requestAnimationFrame);
  return width();
}"""


class Served:
    """A running server; ``url`` ends with a slash."""

    def __init__(self, host="127.0.0.1"):
        self.session = Session()
        self.session.bench.workers = 1
        self._socket = listen(host, 0)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/{TOKEN}/"
        config = uvicorn.Config(
            web_app(self.session, TOKEN, host),
            log_level="critical",
            lifespan="off",
            http=impatient_protocol(),
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()

    def stop(self):
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)
        self._socket.close()
        self.session.close()


@pytest.fixture(scope="session")
def served():
    server = Served()
    yield server
    server.stop()


class Watched:
    """A page on which nothing goes wrong unseen: foreign requests are aborted, they and the console noted."""

    def __init__(self, context, url):
        self.page = context.new_page()
        self.page.set_default_timeout(90_000)  # a busy machine is no failure
        self.foreign, self.said, self._url = [], [], url
        # By a pattern, which the browser's driver matches itself: what is ours never waits for us.
        self.page.route(re.compile(f"^(?!{re.escape(url)}|blob:|data:)"), self._refuse)
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))

    def open(self, query=""):
        self.page.goto(self._url + query)
        self.settled()
        return self.page

    def settled(self, *parts):
        """Every card has been drawn; with parts of the query, the one that has them."""
        if parts:
            match = "".join(f'[data-drawn*="{part}"]' for part in parts)
            self.page.wait_for_selector(f".card{match}:not([data-state=computing], [data-state=partial])")
        else:
            waiting = "[data-state=computing], .card[data-drawn][data-state=partial]"
            self.page.wait_for_selector(f"#explore:has(.card[data-drawn]):not(:has({waiting}))")

    def _refuse(self, route):
        self.foreign.append(route.request.url)
        route.abort()


def check_sound(page):
    """No violation of accessibility in either scheme, and nothing wider than a phone's window.

    The page stays; its scheme and its width change under it. Only colours depend on the scheme.
    """
    from axe_playwright_python.sync_playwright import Axe

    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
        found = Axe().run(page, options=options)
        assert found.violations_count == 0, found.generate_report()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(NARROW) <= 390


@pytest.fixture(scope="session")
def windows(chromium):
    """A context of the browser for each kind of window, kept for every test that wants one."""
    made = {}

    def window(**settings):
        key = json.dumps(settings, sort_keys=True)
        if key not in made:
            made[key] = chromium.new_context(**settings)
        return made[key]

    yield window
    for context in made.values():
        context.close()


@pytest.fixture
def watch(windows, served):
    """Opens watched pages; at the end none has asked another place or written to the console."""
    opened = []

    def start(url=served.url, **settings):
        opened.append(Watched(windows(**settings), url))
        return opened[-1]

    yield start
    for watched in opened:
        watched.page.close()
    for watched in opened:
        assert watched.foreign == []
        assert watched.said == []
