"""Odd requests, slow sockets, files that unpack to gigabytes, and what a killed page leaves behind."""

import fcntl
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from explore.conftest import TOKEN
from sparselaw.explore import uploads
from sparselaw.explore.session import Session
from sparselaw.explore.web import line_stream
from sparselaw.records import strict_json


def raw(served, request, wait=20):
    """What comes back on a socket for these bytes."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=wait) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
            if b"\r\n\r\n" in answer:
                break
    return answer


def status(served, line, *headers):
    host = f"Host: 127.0.0.1:{served.port}"
    given = [host, *headers] if not any(h.startswith("Host") for h in headers) else headers
    request = "\r\n".join([f"{line} HTTP/1.1", *given, "Connection: close", "", ""])
    return int(raw(served, request.encode("latin-1")).split()[1])


@pytest.mark.parametrize(
    ("line", "headers", "wanted"),
    [
        ("GET /", ["Origin: http://[::1"], 403),
        ("GET /", ["Origin: http://[::1]:99999999"], 403),
        ("GET /", ["Origin: null"], 403),
        ("GET /", ["Host: [::1"], 403),
        ("GET /", ["Host: [::1]:x"], 403),
        ("OPTIONS *", [], 403),
        ("GET *", [], 403),
        ("GET x", [], 403),
        ("GET //", [], 403),
        ("GET /%ff%fe/", [], 403),
        ("GET /%00", [], 403),
        (f"GET /{TOKEN}/%ff%fe", [], 404),
        (f"GET /{TOKEN}/api/%00", [], 404),
        (f"GET /{TOKEN}/../../etc/passwd", [], 404),
        (f"GET /{TOKEN}/api/phase?alpha1=%ff&alpha2=%00", [], 200),
        (f"GET /{TOKEN}/api/phase?alpha1=1e999&alpha2=nan", [], 200),
        (f"POST /{TOKEN}/api/runs/fit", ["Content-Length: -4"], 400),
        (f"POST /{TOKEN}/api/runs/fit", ["Content-Length: x"], 400),
        (f"BREW /{TOKEN}/", [], 405),
        (f"GET /{TOKEN}/", ["Origin: http://[::1"], 403),
        (f"OPTIONS /{TOKEN}/", [], 405),
    ],
)
def test_odd_requests_have_an_answer(served, line, headers, wanted):
    assert status(served, line, *headers) == wanted


def test_a_number_that_is_infinite_is_null():
    assert json.loads(strict_json({"a": [np.inf, float("nan"), 1.5], "b": {"c": -float("inf")}})) == {
        "a": [None, None, 1.5],
        "b": {"c": None},
    }


def test_a_line_that_cannot_be_written_ends_with_its_end_line():
    import asyncio

    def lines():
        yield {"x": float("inf")}
        yield {"x": object()}

    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message.get("body", b""))

    def stream():  # in a thread of its own: browser tests leave a running loop in this one
        asyncio.run(line_stream(lines(), threading.Event())({"type": "http"}, receive, send))

    thread = threading.Thread(target=stream)
    thread.start()
    thread.join(60)
    found = [json.loads(line) for line in b"".join(sent).splitlines()]
    assert found[0] == {"x": None}
    assert found[-1]["end"] == "failed"


def last_line(served, path, body):
    request = urllib.request.Request(f"{served.url}api/{path}", data=body, method="POST")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read().splitlines()[-1])


@pytest.mark.parametrize(
    "rows",
    [
        "1e300,1e300,1e-300\n2e300,1e299,1e-299\n1e299,2e300,1e-298\n",
        "1e300,2,3\n1e301,3,2\n1e302,4,1\n1e303,5,0.5\n" * 3,
        "1,1,1e308\n2,2,1e308\n3,1,1e307\n4,4,1e306\n" * 3,
        "nan,inf,-inf\n" * 5,
    ],
)
def test_huge_numbers_end_with_their_end_line(served, rows):
    request = urllib.request.Request(
        f"{served.url}api/runs/read?file_name=x.csv", data=f"N,D,loss\n{rows}".encode()
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        key = json.loads(answer.read().splitlines()[0]).get("upload", "none")
    for asked in ("runs/fit", "runs/report"):
        end = last_line(served, f"{asked}?upload={key}&law=chinchilla", b"")
        assert end["end"] in ("done", "refused"), end


def test_what_an_upload_unpacks_to_is_limited(served):
    rows = gzip.compress(b"1000,2000,3.5\n" * 1_000_000, compresslevel=1)
    packed = gzip.compress(b"N,D,loss\n") + 20 * rows  # which unpack as one file
    assert len(packed) < 5_000_000
    for path in ("runs/read?file_name=x.csv.gz", "features/measure?file_name=x.csv.gz"):
        found = last_line(served, path, packed)
        assert found["end"] == "refused"
        assert "unpacks to more than" in found["refused"] or "limit" in found["refused"], found


def test_slow_sockets_are_closed(served, monkeypatch):
    monkeypatch.setattr("sparselaw.explore.web.SLOWEST_REQUEST", 0.4)
    monkeypatch.setattr("sparselaw.explore.web.LOOK_AGAIN", 0.1)
    for start in (b"", b"GET / HT", f"GET /{TOKEN}/ HTTP/1.1\r\nHost: 127".encode()):
        with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
            connection.sendall(start)
            assert drained(connection) == b""  # closed, and nothing was answered


def drained(connection):
    try:
        return connection.recv(100)
    except ConnectionResetError:
        return b""


def test_a_request_byte_by_byte_is_closed(served, monkeypatch):
    monkeypatch.setattr("sparselaw.explore.web.SLOWEST_REQUEST", 0.5)
    monkeypatch.setattr("sparselaw.explore.web.LOOK_AGAIN", 0.1)
    connection = socket.create_connection(("127.0.0.1", served.port), timeout=20)
    with pytest.raises(OSError):
        drip(connection, b"GET /" + b"x" * 1000)
    connection.close()


def drip(connection, content):
    for byte in content:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def test_a_body_that_does_not_come_is_not_waited_for(served, monkeypatch):
    monkeypatch.setattr("sparselaw.explore.web.SLOWEST_PART", 0.2)
    host = f"Host: 127.0.0.1:{served.port}"
    head = f"POST /{TOKEN}/api/runs/fit HTTP/1.1\r\n{host}\r\nContent-Length: 900\r\n\r\nab"
    assert raw(served, head.encode()).startswith(b"HTTP/1.1 413")


def folders(where):
    return sorted(Path(where).glob(f"{uploads.PREFIX}*"))


def test_folders_left_behind_are_cleared(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, locked in (("dead", False), ("alive", True)):
        (tmp_path / f"{uploads.PREFIX}{name}").mkdir()
        (tmp_path / f"{uploads.PREFIX}{name}" / uploads.LOCK).touch()
        (tmp_path / f"{uploads.PREFIX}{name}" / "upload.csv").write_text("N,D,loss\n")
        if locked:
            held = open(tmp_path / f"{uploads.PREFIX}{name}" / uploads.LOCK, "wb")  # noqa: SIM115
            fcntl.flock(held, fcntl.LOCK_EX)
    for name, age in (("old", 2 * uploads.OLD), ("new", 10.0)):
        (tmp_path / f"{uploads.PREFIX}{name}").mkdir()
        os.utime(tmp_path / f"{uploads.PREFIX}{name}", (time.time() - age,) * 2)
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "precious").touch()
    os.symlink(tmp_path / "target", tmp_path / f"{uploads.PREFIX}link")
    with Session() as session:
        session.uploads.keep("x.csv", b"N,D,loss\n")
        names = {path.name.removeprefix(uploads.PREFIX) for path in folders(tmp_path)}
        assert {"alive", "new", "link"} <= names
        assert not {"dead", "old"} & names
    assert (tmp_path / "target" / "precious").exists()
    assert len(folders(tmp_path)) == 3
    held.close()


def test_a_page_that_is_ended_or_killed_leaves_nothing_for_long(tmp_path):
    """SIGTERM clears the folder at once; what kill -9 leaves is cleared by the next start."""
    settings = {"env": os.environ | {"TMPDIR": str(tmp_path)}, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "sparselaw", "explore", "--no-browser"]
    for number, left in ((signal.SIGKILL, 1), (signal.SIGTERM, 0)):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, **settings) as started:
            address = started.stdout.readline().strip()
            request = urllib.request.Request(
                f"{address}api/runs/fit?file_name=x.csv", data=b"N,D,loss\n1,2,3\n"
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert b'"end"' in answer.read()
            assert len(folders(tmp_path)) == 1  # its own: that of the one before is cleared
            started.send_signal(number)
            started.wait(30)
        assert len(folders(tmp_path)) == left
