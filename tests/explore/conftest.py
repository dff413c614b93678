"""A server of the page in this process, and one browser for all tests that need one."""

from __future__ import annotations

import shutil
import threading

import pytest
import uvicorn

from sparselaw.explore.serve import listen
from sparselaw.explore.session import Session
from sparselaw.explore.web import web_app

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOKEN = "a-token-for-tests"


class Served:
    """A running server; ``url`` ends with a slash."""

    def __init__(self, host="127.0.0.1"):
        self.session = Session()
        self.session.bench.workers = 1
        self._socket = listen(host, 0)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/{TOKEN}/"
        config = uvicorn.Config(web_app(self.session, TOKEN, host), log_level="critical", lifespan="off")
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


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (install Debian's package chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page on which nothing goes wrong unseen: foreign requests are aborted, they and the console noted."""

    def __init__(self, browser, url, **settings):
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(90_000)  # a busy machine is no failure
        self.foreign, self.said, self._url = [], [], url
        self.page.route("**/*", self._route)
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

    def _route(self, route):
        if route.request.url.startswith((self._url, "blob:", "data:")):
            route.continue_()
        else:
            self.foreign.append(route.request.url)
            route.abort()


@pytest.fixture
def watch(chromium, served):
    """Opens watched pages; at the end none has asked another place or written to the console."""
    opened = []

    def start(url=served.url, **settings):
        opened.append(Watched(chromium, url, **settings))
        return opened[-1]

    yield start
    for watched in opened:
        watched.context.close()
    for watched in opened:
        assert watched.foreign == []
        assert watched.said == []
