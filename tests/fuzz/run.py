"""Runs hostile inputs and judges what came of them: ``make fuzz`` for as long as wanted.

    python tests/fuzz/run.py --cases 10000 --seed 1 --report counts.json

Each input runs in a process of its own kind: a child that may have so much memory and no more, with its real
standard output and standard error in files. A child that dies is noticed and replaced.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import json
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.cases import Case, Draw
from fuzz.command_lines import command_line
from fuzz.feature_files import feature_file
from fuzz.page_requests import TOKEN, request
from fuzz.stores import SWEEP, store, whole
from fuzz.tables import table

MAKERS = {"command lines": command_line, "tables": table, "feature files": feature_file, "stores": store,
          "requests": request}  # fmt: skip
CODES = (0, 1, 2, 130)
MEMORY = 3 << 30  # bytes of addresses beyond what the child begins with
PATIENCE = 60  # seconds of one input
EACH_CHILD = 100  # inputs, then a fresh one


def made(kind: str, seed: int) -> Case:
    """The case of a kind and a seed, always the same."""
    return MAKERS[kind](Draw(seed))


def ask(case: Case, folder: Path) -> dict:
    """In the child: run one case in this folder; its code and what it said."""
    if case.request is not None:
        return ask_page(case)
    from sparselaw.cli.app import run

    os.chdir(folder)
    for name, content in case.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    Path("stdin").write_bytes(case.stdin)
    before = {name: digest(Path(name)) for name in case.files}
    streams = [
        os.open("stdin", os.O_RDONLY),
        *(os.open(n, os.O_RDWR | os.O_CREAT) for n in ("out.txt", "err.txt")),
    ]
    for number, opened in enumerate(streams):
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(i, "w" if i else "r", closefd=False) for i in range(3))
    sys.argv = ["sparselaw", *case.arguments]
    code: object = None
    try:
        code = run(None)
    except SystemExit as stop:
        code = stop.code
    except BaseException as error:
        print(f"Traceback: {type(error).__name__}: {error}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    changed = [name for name, was in before.items() if name != "s.sqlite" and digest(Path(name)) != was]
    out, err = Path("out.txt").read_bytes(), Path("err.txt").read_bytes()
    written = Path("out.csv").read_bytes() if case.kind == "stores" and Path("out.csv").exists() else b""
    return {"code": code, "out": out, "err": err, "changed": changed, "written": written}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "gone"


SESSION = None


def ask_page(case: Case) -> dict:
    """The answer of the page's application, called as its server calls it."""
    import asyncio

    from sparselaw.explore.session import Session
    from sparselaw.explore.web import web_app

    global SESSION
    SESSION = SESSION or Session()
    method, target, headers, body = case.request
    path, _, query = target.partition("?")
    sent: list[dict] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict:
        if waiting:
            return waiting.pop(0)
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode("utf-8", "replace"),
        "root_path": "",
        "query_string": query.encode("utf-8", "replace"), "http_version": "1.1", "scheme": "http",
        "headers": [(k.encode(), v.encode("utf-8", "replace")) for k, v in headers.items()],
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 9),
    }  # fmt: skip
    error = ""
    try:
        asyncio.run(asyncio.wait_for(web_app(SESSION, TOKEN)(scope, receive, send), PATIENCE))
    except BaseException as raised:
        error = f"Traceback: {type(raised).__name__}: {raised}"
    status = sent[0].get("status") if sent else None
    answer = b"".join(message.get("body", b"") for message in sent)
    lined = method == "POST" and status == 200
    return {"code": status, "out": answer, "err": error.encode(), "lined": lined}


def complaints(case: Case, got: dict) -> list[str]:
    """What is wrong with an outcome; nothing, as a rule."""
    if got.get("died"):
        return [got["died"]]
    err, out = got["err"].decode("utf-8", "replace"), got["out"]
    found = ["traceback"] if "Traceback" in err else []
    if case.request is not None:
        return found + page_complaints(case, got)
    if got["code"] not in CODES:
        found.append(f"exit code {got['code']}")
    if "a failure of ours" in err:
        found.append("a failure of ours")
    if "Warning:" in err:
        found.append("a warning")
    if got["code"] == 2 and (err.count("\n") != 1 or "sparselaw: error: " not in err or out):
        said = [line for line in err.splitlines() if line.startswith("sparselaw: error: ")]
        if len(said) != 1 or not all(line.startswith("sparselaw: ") for line in err.splitlines()):
            found.append("not one line")
    if got["code"] == 0 and "--json" in case.arguments and "--help" not in case.arguments:
        found += json_complaints(out)
    if got["changed"]:
        found.append(f"an input was changed: {got['changed']}")
    if case.arguments == SWEEP and got["code"] == 0 and got["written"] != whole()[1]:
        found.append("another answer from a damaged store")
    return found


def json_complaints(text: bytes) -> list[str]:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        value = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return [f"no JSON: {error}"]
    return [] if isinstance(value, dict) else ["not one JSON object"]


def page_complaints(case: Case, got: dict) -> list[str]:
    if got["code"] is None or got["code"] >= 500:
        return [f"status {got['code']}"]
    found = []
    if b"a failure of ours" in got["out"]:
        found.append("a failure of ours")
    if got["lined"]:
        lines = got["out"].splitlines()
        for line in lines:
            found += json_complaints(line)
        if not lines or b'"end"' not in lines[-1]:
            found.append("no end line")
    elif "/api/" in case.request[1] and case.request[0] == "GET" and got["code"] == 200:
        found += json_complaints(got["out"])
    return found


class Child:
    """A process that answers cases until it dies or has answered enough."""

    def __init__(self) -> None:
        self.asked = 0
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._write)
            os.close(self._read)
            serve(os.fdopen(to_read, "rb"), os.fdopen(to_write, "wb"))
            os._exit(0)
        os.close(to_read)
        os.close(to_write)
        self._out, self._in = os.fdopen(self._write, "wb"), os.fdopen(self._read, "rb")

    def ask(self, kind: str, seed: int) -> dict:
        self.asked += 1
        pickle.dump((kind, seed), self._out)
        self._out.flush()
        import select

        ready, _, _ = select.select([self._in], [], [], 2 * PATIENCE)
        if not ready:
            os.kill(self.pid, signal.SIGKILL)
            self.close()
            return {"died": f"no answer in {2 * PATIENCE} s"}
        try:
            return pickle.load(self._in)
        except EOFError:
            _, status = os.waitpid(self.pid, 0)
            self.pid = 0
            return {"died": f"died of signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended"}

    def close(self) -> None:
        for stream in (self._out, self._in):
            with contextlib.suppress(OSError):
                stream.close()
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0


def serve(questions, answers) -> None:
    started = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (started + MEMORY, started + MEMORY))

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {PATIENCE} s")

    signal.signal(signal.SIGALRM, late)
    while True:
        try:
            kind, seed = pickle.load(questions)
        except EOFError:
            return
        case = made(kind, seed)
        folder = Path(tempfile.mkdtemp(prefix="sparselaw-fuzz-"))
        signal.alarm(PATIENCE)
        start = time.perf_counter()
        try:
            got = ask(case, folder)
        except TimeoutError as error:
            got = {"died": f"slow: {error}"}
        finally:
            signal.alarm(0)
            os.chdir("/")
        wrong = complaints(case, got)
        code = got.get("code")
        said = got.get("err", b"")[-400:].decode("utf-8", "replace")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        shutil.rmtree(folder, ignore_errors=True)
        report = {
            "wrong": wrong,
            "code": code,
            "said": said,
            "seconds": time.perf_counter() - start,
            "peak": peak,
        }
        pickle.dump(report, answers)
        answers.flush()


def search(kinds: list[str], cases: int, seed: int, seconds: float = 0.0, tell=None) -> dict:
    """Counts of outcomes by kind, and every case with a complaint."""
    import sparselaw.cli.app  # noqa: F401  # loaded once, for all children

    whole()
    counts: dict[str, collections.Counter] = {kind: collections.Counter() for kind in kinds}
    wrong, peak, child, start = [], 0, None, time.monotonic()
    for i in range(cases):
        if seconds and time.monotonic() - start > seconds:
            break
        kind = kinds[i % len(kinds)]
        if child is None or child.asked >= EACH_CHILD:
            if child is not None:
                child.close()
            child = Child()
        got = child.ask(kind, seed * 1_000_003 + i)
        if got.get("died") and "wrong" not in got:
            got = {"wrong": [got["died"]], "code": None, "said": "", "peak": 0}
            child = None
        counts[kind]["inputs"] += 1
        counts[kind][f"code {got['code']}"] += 1
        counts[kind]["milliseconds"] += round(1000 * got.get("seconds", 0.0))
        peak = max(peak, got["peak"])
        if got["wrong"]:
            counts[kind]["complaints"] += 1
            case = made(kind, seed * 1_000_003 + i)
            asked = list(case.arguments) if case.request is None else list(case.request[:2])
            told = {"kind": kind, "seed": seed * 1_000_003 + i, "wrong": got["wrong"], "said": got["said"]}
            told["asked"] = asked
            wrong.append(told)
            if tell is not None:
                tell(told)
    if child is not None:
        child.close()
    return {
        "counts": {kind: dict(found) for kind, found in counts.items()},
        "wrong": wrong,
        "peak_MB": peak // 1024,
    }


def counted(counts: dict) -> str:
    """The counts as a table, a row for each kind."""
    lines = ["| kind | inputs | exit codes, or statuses of the page | complaints |", "|---|---|---|---|"]
    for kind, found in counts.items():
        codes = sorted((name[5:], n) for name, n in found.items() if name.startswith("code "))
        shown = ", ".join(f"{code}: {n}" for code, n in codes)
        lines.append(f"| {kind} | {found['inputs']} | {shown} | {found.get('complaints', 0)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="hostile inputs, seeded")
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kinds", nargs="*", default=[*MAKERS])
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    found = search(
        given.kinds, given.cases, given.seed, given.seconds, tell=lambda told: print(json.dumps(told))
    )
    print(f"seed {given.seed}, peak memory of a child {found['peak_MB']} MB\n")
    print(counted(found["counts"]))
    if given.report:
        given.report.write_text(json.dumps({"seed": given.seed, **found}, indent=1))
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
