"""The page in a notebook: the same modules and the same answers, carried by the notebook's own messages."""

from __future__ import annotations

import re
import threading
from concurrent.futures import Future
from typing import Any

import anywidget
import traitlets

from sparselaw.explore.serve import page_files
from sparselaw.explore.session import Session

ENTRY = "main.js"


def page_modules() -> list[tuple[str, str]]:
    """The modules that the entry needs, each after those it imports."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        if name in found:
            return
        source = page_files()[name][0].decode("utf-8")
        for needed in re.findall(r'from "\./([^"]+)"', source):
            add(needed)
        found[name] = source

    add(ENTRY)
    return list(found.items())


def _text(name: str) -> str:
    return page_files()[name][0].decode("utf-8")


class Explorer(anywidget.AnyWidget):
    """``Explorer(alpha1=0.5)``; ``state`` is what differs from the usual, open to both sides."""

    _esm = _text("widget.js")
    _css = _text("vendor/uplot.css") + _text("style.css")
    modules: Any = traitlets.List().tag(sync=True)
    state: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, **state: Any) -> None:
        super().__init__(modules=page_modules(), state={name: str(value) for name, value in state.items()})
        self.session = Session()
        self._stops: dict[str, threading.Event] = {}
        self._asked: dict[str, Future[dict[str, Any]]] = {}
        self._heard = False
        self.on_msg(self._hear)

    def close(self) -> None:
        self.session.close()
        super().close()

    def _hear(self, _: Any, message: dict[str, Any], buffers: list[Any]) -> None:
        key, ask = str(message.get("id")), message.get("ask")
        if not self._heard:  # somebody looks at it
            self._heard = True
            threading.Thread(target=self.session.long.prepare, daemon=True).start()
        if ask == "cancel":
            if key in self._stops:
                self._stops[key].set()
            if key in self._asked:
                self._asked[key].cancel()
            return
        name, given = str(message.get("name")), dict(message.get("params") or {})
        if ask == "values":
            found = self._asked[key] = self.session.ask(name, given)
            found.add_done_callback(lambda _: self._tell_found(key))
        elif ask == "lines":
            stop = self._stops[key] = threading.Event()
            body = bytes(buffers[0]) if buffers else b""
            threading.Thread(target=self._stream, args=(key, name, given, body, stop), daemon=True).start()

    def _stream(self, key: str, name: str, given: dict[str, str], body: bytes, stop: threading.Event) -> None:
        try:
            for line in self.session.lines(name, given, body, stop):
                self._tell(key, line)
        finally:
            self._stops.pop(key, None)

    def _tell_found(self, key: str) -> None:
        found = self._asked.pop(key)
        if not found.cancelled():
            self._tell(key, found.result())

    def _tell(self, key: str, line: dict[str, Any]) -> None:
        self.send({"id": key, "line": line})
