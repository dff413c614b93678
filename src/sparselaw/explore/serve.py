"""Starts the server: its address is known, and printed, before anything slow is loaded.

The files of the page are read once: what is served is looked up here, and no path is ever opened.
"""

from __future__ import annotations

import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from typing import Any, cast
from urllib.parse import urlencode

from sparselaw.errors import InputError

LARGEST_PORT = 65535
ENTRY = b'<script type="module"'
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    query: str = "",
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C. ``tell`` gets its address, with the token in it; port 0 takes a free one.

    ``query`` is the state of the page, as in its own address.
    """
    listening = listen(host, port)
    token = secrets.token_urlsafe(18)
    name = f"[{host}]" if ":" in host else host
    tell(url := f"http://{name}:{listening.getsockname()[1]}/{token}/{query}")
    if browser:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    _run(listening, token, host)


def _run(listening: socket.socket, token: str, host: str) -> None:
    import uvicorn

    from sparselaw.explore.session import Session
    from sparselaw.explore.web import impatient_protocol, web_app

    if threading.current_thread() is threading.main_thread():  # ended from outside, nothing is left behind
        signal.signal(signal.SIGTERM, _end)
    with Session() as session, ExitStack() as until_the_end:

        def prepare() -> None:
            until_the_end.callback(one_thread_from_here_on())
            session.prepare()

        threading.Thread(target=prepare, daemon=True).start()
        config = uvicorn.Config(
            web_app(session, token, host),
            log_level="critical",
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=1,
            http=impatient_protocol(),
        )
        uvicorn.Server(config).run(sockets=[listening])


def _end(number: int, _frame: object) -> None:
    """Ended from outside, once: what is being put away is not interrupted."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def one_thread_from_here_on() -> Callable[[], None]:
    """For linear algebra, which is small here: a second thread costs more than it gives. The way back."""
    import numpy  # noqa: F401  # its library must be loaded to be found
    from threadpoolctl import threadpool_limits

    limits = threadpool_limits(1, user_api="blas")
    return lambda: cast(None, limits.restore_original_limits())


def listen(host: str, port: int) -> socket.socket:
    """A socket that answers at once."""
    if not 0 <= port <= LARGEST_PORT:
        raise InputError("port", port, f"must be between 0 and {LARGEST_PORT}", "choose 0 for a free one")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # For every connection: otherwise the body of an answer waits 40 ms for the receipt of its head.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind(address)
    except OSError as error:
        raise InputError(
            "port", port, f"cannot be listened on at {host} ({error.strerror})", "choose another, or 0"
        ) from None
    listening.listen(128)
    return listening


def explore(**state: Any) -> Any:
    """Open the page: in a notebook as a widget, elsewhere in the browser until Ctrl-C.

    ``state`` is what to begin with, by the names in the page's address: ``explore(alpha1=0.5,
    view="surface")``.
    """
    if in_notebook():
        try:
            from sparselaw.explore.widget import Explorer
        except ImportError:
            raise InputError(
                "explore", "", "needs anywidget in a notebook", "pip install 'sparselaw[jupyter]'"
            ) from None
        return Explorer(**state)

    return serve(query=f"?{urlencode(state)}" if state else "")


def in_notebook() -> bool:
    """Whether a kernel runs this, and can show a widget."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


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
    # Every module is asked for at once: one would otherwise be found inside another, six deep.
    modules = sorted(name for name in found if name.endswith(".js") and name != "widget.js")
    links = "".join(f'<link rel="modulepreload" href="{name}" />\n    ' for name in modules)
    found["index.html"] = (start.replace(ENTRY, links.encode() + ENTRY), kind)
    return found
