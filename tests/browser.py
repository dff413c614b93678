"""The browser of the tests: Debian's headless shell where it is, a third less work than the whole browser."""

from __future__ import annotations

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
MISSING = "no Chromium on this machine (install Debian's package chromium-headless-shell)"
