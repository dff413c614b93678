"""A server of the page in this process, and one browser for all tests that need one."""

from __future__ import annotations

import shutil
import socket
import threading

import pytest
import uvicorn

from sparselaw.explore.session import Session
from sparselaw.explore.web import web_app

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOKEN = "a-token-for-tests"


class Served:
    """A running server; ``url`` ends with a slash."""

    def __init__(self, host="127.0.0.1"):
        self.session = Session()
        self.session.bench.workers = 1
        self._socket = socket.create_server((host, 0))
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
