"""The page over HTTP: files, values by GET, streams of NDJSON lines by POST.

Only this machine's own browser may ask, by the address that was printed; bodies and patience have limits.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sparselaw.explore.serve import page_files
from sparselaw.explore.session import Session
from sparselaw.records import strict_json

LARGEST_BODY = 50_000_000
PATIENCE = 4  # times the largest body
SLOWEST_REQUEST, SLOWEST_READER, LOOK_AGAIN = 10.0, 30.0, 1.0  # seconds
SLOWEST_PART = 20.0  # seconds until the next part of a body
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
ANYWHERE = frozenset({"0.0.0.0", "::"})

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def web_app(session: Session, token: str, host: str = "127.0.0.1") -> ASGIApp:
    """The application: everything below /<token>/."""
    app = Starlette(
        routes=[
            Route("/{token}/", _file, methods=["GET"]),
            Route("/{token}/api/{name:path}", _values, methods=["GET"]),
            Route("/{token}/api/{name:path}", _stream, methods=["POST"]),
            Route("/{token}/{name:path}", _file, methods=["GET"]),
        ]
    )
    app.state.session = session
    return guarded(app, token=token, host=host)


async def _file(request: Request) -> Response:
    found = page_files().get(request.path_params.get("name") or "index.html")
    if found is None:
        return PlainTextResponse("no such file\n", 404)
    content, kind = found
    return Response(content, headers={"Content-Type": kind})


async def _values(request: Request) -> Response:
    from sparselaw.explore.views import VALUES

    session: Session = request.app.state.session
    name, given = request.path_params["name"], dict(request.query_params)
    if name not in VALUES:
        return PlainTextResponse("no such question\n", 404)

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    found, watcher = asyncio.wrap_future(session.ask(name, given)), asyncio.create_task(gone())
    try:
        waited: set[asyncio.Future[Any]] = {found, watcher}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        answer = found.result() if found.done() else {}
    finally:
        watcher.cancel()
        found.cancel()  # where nobody waits any more, and with it what was asked for, if it has not begun
    # A refusal too: a status of failure would fill the browser's console.
    return Response(strict_json(answer).encode(), media_type="application/json")


async def _stream(request: Request) -> Response:
    from sparselaw.explore.views import STREAMS

    session: Session = request.app.state.session
    name, given = request.path_params["name"], dict(request.query_params)
    if name not in STREAMS:
        return PlainTextResponse("no such question\n", 404)
    body = await limited_body(request)
    if body is None:
        line = f"upload=: is larger than {LARGEST_BODY // 10**6} MB; drop a smaller file"
        return JSONResponse({"refused": line, "name": "upload"}, status_code=413)
    stop = threading.Event()
    return line_stream(session.lines(name, given, body, stop), stop)


def line_stream(lines: Iterator[dict[str, Any]], stop: threading.Event) -> Response:
    """Lines of JSON as a thread makes them. When the reader goes away ``stop`` is set."""

    async def told() -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()

        def put(line: bytes | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(queue.put_nowait, line)

        def work() -> None:
            try:
                for line in lines:
                    put(f"{strict_json(line)}\n".encode())
            except Exception as error:  # of making the line, the rest is answered for by the session
                said = {"end": "failed", "refused": f"a failure of ours: {error!r}"[:500]}
                put(f"{strict_json(said)}\n".encode())
            finally:
                put(None)

        threading.Thread(target=work, daemon=True).start()
        try:
            while (line := await queue.get()) is not None:
                yield line
        finally:
            stop.set()

    return StreamingResponse(told(), media_type="application/x-ndjson")


def guarded(app: ASGIApp, *, token: str, host: str) -> ASGIApp:
    """Refuses a foreign Host (a name that was bent to this machine), a foreign Origin, and a wrong token.

    The token is the first part of the path, so that every relative address of the page carries it.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http":
            reason = _reason(scope, token, host)
            allowed = PlainTextResponse(f"{reason}\n", 403) if reason else app
            await allowed(scope, receive, send_guarded)

    return answer


def _reason(scope: Scope, token: str, bound: str) -> str:
    """Why a request is refused."""
    headers = Headers(scope=scope)
    host, origin = headers.get("host", ""), headers.get("origin")
    try:
        name, asking = urlsplit(f"//{host}").hostname or "", urlsplit(origin or "").netloc
    except ValueError:  # a header that is none
        return "this request cannot be understood"
    if not allowed_host(name, bound):
        return "this server answers to its own address only"
    crosses = headers.get("sec-fetch-site") == "cross-site" and scope["method"] != "GET"
    if crosses or (origin is not None and asking != host):
        return "another page may not ask this server"
    given = scope["path"].removeprefix("/").split("/")[0].encode("utf-8", "surrogateescape")
    if not secrets.compare_digest(given, token.encode()):
        return "the address needs its token: use the one that `sparselaw explore` printed"
    return ""


def allowed_host(name: str, bound: str) -> bool:
    """Whether a Host header may name this server. A number cannot be bent, a name can.

    >>> allowed_host("127.0.0.1", "127.0.0.1"), allowed_host("evil.example", "127.0.0.1")
    (True, False)
    """
    if name in LOOPBACK or name == bound or bound not in ANYWHERE:
        return name in LOOPBACK or name == bound
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in {socket.gethostname(), socket.getfqdn()}
    return True


async def limited_body(request: Request) -> bytes | None:
    """The body, or None where it is larger than allowed: by what it says, or by what arrives.

    A little more than allowed is read and thrown away: who still sends does not hear the answer. Who sends
    nothing for a while is not waited for.
    """
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > PATIENCE * LARGEST_BODY:
        return None
    parts: list[bytes] = []
    size = 0
    stream = request.stream()
    while True:
        try:
            part = await asyncio.wait_for(anext(stream), SLOWEST_PART)
        except StopAsyncIteration:
            break
        except (TimeoutError, ClientDisconnect):
            return None
        size += len(part)
        if size > PATIENCE * LARGEST_BODY:
            return None
        if size <= LARGEST_BODY:
            parts.append(part)
        else:
            parts.clear()
    return b"".join(parts) if size <= LARGEST_BODY else None


def impatient_protocol() -> Any:
    """uvicorn's own, which would wait for ever for a request that comes byte by byte."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        """Closes a connection on which a request, or the reading of its answer, takes too long."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._waiting = self.loop.time()
            self._looking = self.loop.call_later(LOOK_AGAIN, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            self._looking.cancel()
            super().connection_lost(exc)

        def _look(self) -> None:
            at_work = self.cycle is not None and not self.cycle.response_complete
            stuck = at_work and self.flow is not None and self.flow.write_paused
            now = self.loop.time()
            if at_work and not stuck:
                self._waiting = now
            if now - self._waiting > (SLOWEST_READER if stuck else SLOWEST_REQUEST):
                self.transport.abort()
                return
            self._looking = self.loop.call_later(LOOK_AGAIN, self._look)

    return Impatient
