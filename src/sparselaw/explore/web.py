"""The page over HTTP: files, values by GET, streams of NDJSON lines by POST."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sparselaw.explore.guard import LARGEST_BODY, Guard, limited_body
from sparselaw.explore.page_files import page_files
from sparselaw.explore.session import Session
from sparselaw.records import strict_json


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
    return Guard(app, token=token, host=host)


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
    answer = None
    if session.long.takes(name, given):
        answer = await _from_process(request, session.long.submit(name, given))
    if answer is None:
        answer = await in_thread(lambda: session.values(name, given))
    # A refusal too: a status of failure would fill the browser's console.
    return Response(strict_json(answer).encode(), media_type="application/json")


async def _from_process(request: Request, asked: Future[dict[str, Any]]) -> dict[str, Any] | None:
    """What the other process gives; None where it failed. Given up when nobody waits any more."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    found, watcher = asyncio.wrap_future(asked), asyncio.create_task(gone())
    try:
        waited: set[asyncio.Future[Any]] = {found, watcher}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not found.done():
            found.cancel()  # and with it what was asked for, if it has not begun
            return {}
        return None if found.cancelled() or found.exception() is not None else found.result()
    finally:
        watcher.cancel()


async def in_thread(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``work`` gives, from a thread that does not hold up the end of the program."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[dict[str, Any]] = loop.create_future()

    def settle(answer: dict[str, Any] | None, error: BaseException | None) -> None:
        if found.done():  # nobody waits any more
            return
        if error is None and answer is not None:
            found.set_result(answer)
        else:
            found.set_exception(error or RuntimeError("no answer"))

    def run() -> None:
        answer, error = None, None
        try:
            answer = work()
        except Exception as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
            loop.call_soon_threadsafe(settle, answer, error)

    threading.Thread(target=run, daemon=True).start()
    return await found


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
    return LineStream(session.lines(name, given, body, stop), stop)


class LineStream(Response):
    """Lines of JSON as a thread makes them. When the reader goes away ``stop`` is set."""

    def __init__(self, lines: Iterator[dict[str, Any]], stop: threading.Event) -> None:
        super().__init__(headers={"Content-Type": "application/x-ndjson"})
        del self.headers["content-length"]
        self._lines, self._stop = lines, stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()

        def put(line: bytes | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(queue.put_nowait, line)

        def work() -> None:
            try:
                for line in self._lines:
                    put(f"{strict_json(line)}\n".encode())
            except Exception as error:  # of making the line, the rest is answered for by the session
                said = {"end": "failed", "refused": f"a failure of ours: {error!r}"[:500]}
                put(f"{strict_json(said)}\n".encode())
            finally:
                put(None)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            self._stop.set()
            queue.put_nowait(None)

        watcher = asyncio.create_task(watch())
        threading.Thread(target=work, daemon=True).start()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while (line := await queue.get()) is not None and not watcher.done():
                await send({"type": "http.response.body", "body": line, "more_body": True})
            if not watcher.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._stop.set()
            watcher.cancel()
