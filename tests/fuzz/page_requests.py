"""Requests to the page: methods, paths, headers, states and bodies that no browser sends."""

from __future__ import annotations

from urllib.parse import quote

from fuzz.cases import NUMBERS, SIZES, WORDS, Case, Draw
from fuzz.feature_files import lines
from fuzz.tables import drawn, odd, written

TOKEN = "a-token"
HEADERS = (
    ("host", ("127.0.0.1", "localhost", "evil.example", "[::1", "[::1]", "", "127.0.0.1:x", "a" * 5000, "é")),
    (
        "origin",
        (
            "http://127.0.0.1",
            "http://[::1",
            "null",
            "",
            "http://evil.example",
            "x://y",
            "http://127.0.0.1:99999",
        ),
    ),
    ("sec-fetch-site", ("cross-site", "same-origin", "")),
    ("content-length", ("0", "-1", "x", "999999999999", "٣")),
    ("content-type", ("application/json", "x", "")),
)
NAMES = ("alpha1", "alpha2", "dimension", "inputs", "N", "D", "solver", "surface", "along", "draft",
         "budget", "cost",
         "ridge", "steps", "upload", "table", "law", "file_name", "columns", "from", "trials", "noise",
         "features")  # fmt: skip
PATHS = ("", "/", "*", "x", "//", f"/{TOKEN}", f"/{TOKEN}/", f"/{TOKEN}/index.html", f"/{TOKEN}/../x",
         f"/{TOKEN}/api/",
         f"/{TOKEN}/api/no", "/wrong/api/phase", f"/{TOKEN}/\0", f"/{TOKEN}/api/phase/x",
         "/\udcff")  # fmt: skip


def request(draw: Draw) -> Case:
    from sparselaw.explore.views import STREAMS, VALUES

    quick = [name for name in VALUES if not name.startswith("surface/est")]
    bodies = ["runs/read", "inputs/measured", "runs/fit", "runs/report"]
    headers = {"host": "127.0.0.1"}
    for name, values in draw.some(HEADERS, 2) if draw.chance(0.4) else []:
        headers[name] = draw.pick(values)
    method, body = "GET", b""
    if draw.chance(0.2):
        method, path = draw.pick(["GET", "POST", "OPTIONS", "HEAD", "PUT", "DELETE", "X"]), draw.pick(PATHS)
    elif draw.chance(0.35):
        method, name = "POST", draw.pick(bodies)
        assert name in STREAMS
        body = (
            lines(draw)[1]
            if draw.chance(0.2)
            else written(draw, *odd(draw, *drawn(draw)), draw.pick(["csv", "json"]))
        )
        body = draw.noise(body) if draw.chance(0.3) else body
        file_name = draw.pick(["x.csv", "x.json", "../x", "", "é.gz", "x.npz"])
        path = f"/{TOKEN}/api/{name}?file_name={quote(file_name)}"
    else:
        path = f"/{TOKEN}/api/{draw.pick(quick)}"
    given = {"alpha1": "1", "alpha2": "0.3", "N": "64", "D": "128", "draft": "yes", "surface": "leading"}
    given |= {name: draw.pick(NUMBERS + SIZES + WORDS) for name in draw.some(NAMES, 3)}
    state = "&".join(f"{quote(name)}={quote(value)}" for name, value in given.items())
    joined = f"{path}{'&' if '?' in path else '?'}{state}"
    return Case(kind="requests", request=(method, joined, headers, body))
