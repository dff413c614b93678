"""The built site leads nowhere outside: ``python tests/site/check_site.py site``.

Every link and picture of every page is there, anchors included, and no other machine is asked for anything.
Where there is a Chromium, every page is opened in it, without a foreign request or an error on the console.
It ends with what passed and what failed, and with exit code 1 where anything did.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import CHROMIUM, MISSING

OUTSIDE_ALLOWED = {"a"}  # a link may lead outside; what a page loads may not


class Page(HTMLParser):
    """The anchors of a page, and what it refers to: (tag, address)."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.refers: list[tuple[str, str]] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            if name in {"href", "src"} and value and not (tag == "link" and ("rel", "canonical") in attrs):
                self.refers.append((tag, value))


def problems(site: Path) -> Iterator[tuple[str, str]]:
    """For each page its name and what is wrong with its links; empty where nothing is."""
    pages = {file.resolve(): Page(file) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        wrong = [address for tag, address in page.refers if not _leads(file, tag, address, pages)]
        drawn = sum(tag == "img" and "_images/" in address for tag, address in page.refers)
        if file.parent.name == "tutorials" and drawn < (
            called := file.read_text("utf-8").count(">subplots<")
        ):
            wrong.append(f"{drawn} pictures of {called}")
        yield str(file.relative_to(site.resolve())), ", ".join(sorted(set(wrong)))


def _leads(file: Path, tag: str, address: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    if parts.scheme in {"http", "https"}:
        return tag in OUTSIDE_ALLOWED
    if parts.scheme in {"data", "mailto"}:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not target.exists():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors


def in_a_browser(site: Path, executable: str) -> Iterator[tuple[str, str]]:
    """Each page opened: what it asked of others, and what it said on the console."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = browser.new_page()
        said: list[str] = []
        tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: said.append(str(error)))

        def only_ours(route: object, request: object) -> None:
            if urlsplit(request.url).scheme in {"file", "data", "blob"}:  # type: ignore[attr-defined]
                route.continue_()  # type: ignore[attr-defined]
            else:
                said.append(f"asked for {request.url}")  # type: ignore[attr-defined]
                route.abort()  # type: ignore[attr-defined]

        tab.route("**/*", only_ours)
        for file in sorted(site.rglob("*.html")):
            said.clear()
            tab.goto(file.resolve().as_uri(), wait_until="load")
            yield f"{file.relative_to(site)} in a browser", "; ".join(said)
        browser.close()


def main(site: Path) -> int:
    outcomes = list(problems(site))
    if CHROMIUM is None:
        print(f"{MISSING}: the pages were not opened in a browser")
    else:
        outcomes += in_a_browser(site, CHROMIUM)
    failed = [f"{name}: {problem}" for name, problem in outcomes if problem]
    print("\n".join(failed), file=sys.stderr)
    print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
