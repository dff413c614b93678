"""Who may ask: this machine's own browser, by the address that was printed, and nobody else."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 50_000_000
PATIENCE = 4  # times the largest body
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

        reason = self._reason(scope)
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
        given = scope["path"].split("/")[1].encode()
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

    A little more than allowed is read and thrown away: who still sends does not hear the answer.
    """
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > PATIENCE * LARGEST_BODY:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
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
