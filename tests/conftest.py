"""No test touches the runs that the user keeps, has to be done in a given time, or draws by chance."""

from __future__ import annotations

import signal

import pytest
import scipy.linalg  # noqa: F401  # its BLAS must be loaded to be limited
from hypothesis import settings
from threadpoolctl import threadpool_limits

from browser import CHROMIUM, MISSING

settings.register_profile("the same everywhere", deadline=None, derandomize=True)
settings.load_profile("the same everywhere")

# A shell lets its background jobs ignore Ctrl-C, and so would every program that a test starts and stops.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    """Threads of small matrix products that wait for each other take ten times as long on busy cores."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.getbasetemp() / "user"
    folder.mkdir(exist_ok=True)
    for name in ("XDG_DATA_HOME", "SPARSELAW_CACHE", "LOCALAPPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(folder))


def pytest_terminal_summary(terminalreporter):
    """One line for what could not be tested without a browser, and how to get it."""
    reports = terminalreporter.stats.get("skipped", [])
    skipped = [report for report in reports if MISSING in str(report.longrepr)]
    if skipped:
        folders = sorted({report.nodeid.split("/")[1] for report in skipped})
        terminalreporter.write_line(
            f"not tested: {len(skipped)} tests of pages in a browser ({', '.join(folders)}); {MISSING}"
        )


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests of a process: playwright starts only once in it."""
    if CHROMIUM is None:
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
