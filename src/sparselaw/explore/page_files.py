"""The files of the page, read once: what is served is looked up here, and no path is ever opened."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

ENTRY = b'<script type="module"'
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@cache
def page_files() -> dict[str, tuple[bytes, str]]:
    """Name -> content and type; names like ``vendor/uplot.js``."""
    found = {}
    folder = files("sparselaw.explore") / "page"
    for part, prefix in ((folder, ""), (folder / "vendor", "vendor/")):
        for file in part.iterdir():
            kind = TYPES.get(f".{file.name.rpartition('.')[2]}")
            if kind is not None:
                found[prefix + file.name] = (file.read_bytes(), f"{kind}; charset=utf-8")
    start, kind = found["index.html"]
    found["index.html"] = (start.replace(ENTRY, _links(found) + ENTRY), kind)
    return found


def _links(names: Iterable[str]) -> bytes:
    """Every module is asked for at once: one would otherwise be found inside another, six deep."""
    modules = [name for name in names if name.endswith(".js") and name != "widget.js"]
    return "".join(f'<link rel="modulepreload" href="{name}" />\n    ' for name in sorted(modules)).encode()
