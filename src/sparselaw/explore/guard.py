"""Who may ask: this machine's own browser, by the address that was printed; how much, and for how long."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import socket
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class Guard:
    """Refuses a foreign Host (a name that was bent to this machine), a foreign Origin, and a wrong token.

    The token is the first part of the path, so that every relative address of the page carries it.
    """

    def __init__(self, app: ASGIApp, *, token: str, host: str) -> None:
        self._app, self._token, self._host = app, token, host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            reason = self._reason(scope)
        except ValueError:  # a header that is none
            reason = "this request cannot be understood"
        if reason:
            await PlainTextResponse(f"{reason}\n", 403)(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    def _reason(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not allowed_host(_name(host), self._host):
            return "this server answers to its own address only"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "another page may not ask this server"
        if headers.get("sec-fetch-site") == "cross-site" and scope["method"] != "GET":
            return "another page may not ask this server"
        given = scope["path"].removeprefix("/").split("/")[0].encode("utf-8", "surrogateescape")
        if not secrets.compare_digest(given, self._token.encode()):
            return "the address needs its token: use the one that `sparselaw explore` printed"
        return ""


def allowed_host(name: str, bound: str) -> bool:
    """Whether a Host header may name this server. A number cannot be bent, a name can.

    >>> allowed_host("127.0.0.1", "127.0.0.1"), allowed_host("evil.example", "127.0.0.1")
    (True, False)
    """
    if name in LOOPBACK or name == bound:
        return True
    if bound not in ANYWHERE:
        return False
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


def _name(host: str) -> str:
    """The name in a Host header, without its port and without the brackets of IPv6."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


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
