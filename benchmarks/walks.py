"""Claim: one reads few files to follow one question through the package.

    python benchmarks/walks.py [name ...]

A walk is one command, or one request of the page, in a fresh process. A file of the package is on it if a
function of the file ran, seen by the interpreter (``sys.setprofile``, in every thread of the process). The
bodies of modules and classes do not count, nor what they call while they are being imported: to follow a
command one does not read how names come into a list. Compiled loops are not seen; who calls them is.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

MOST = {"predict": 25, "simulate": 60, "fit": 40, "forecast": 25, "slider": 25}  # files on each walk


def predict(_: Path) -> None:
    _command("predict --alpha1 1 --alpha2 0.3 -N 256 -D 50000")


def simulate(folder: Path) -> None:
    size = "-N 16,32 -D 2000 --seeds 2 --workers 1"
    _command(f"simulate --alpha1 1 --alpha2 0.3 {size} --store {folder}/runs.sqlite")


def fit(folder: Path) -> None:
    _command(f"fit {_runs(folder)} --bootstrap 20")


def forecast(folder: Path) -> None:
    _command(f"forecast {_runs(folder)} --at N=1e9,D=1e11")


def slider(_: Path) -> None:
    """The page is open; one request for the surface."""
    from sparselaw.explore.session import Session

    session = Session()
    _watch()
    session.values("surface", {"alpha1": "1", "alpha2": "0.3"})


def _command(words: str) -> None:
    from sparselaw.cli import main

    sys.argv = ["sparselaw", *words.split(), "--json"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        _watch()
        main()


def _runs(folder: Path) -> Path:
    """A table of made-up runs, with a scatter that depends on nothing."""
    rows = [
        f"{N:g},{D:g},{(1.7 + 400 * N**-0.34 + 1100 * D**-0.37) * (1 + 1e-3 * ((i * 7 + j * 3) % 5 - 2))}"
        for i, N in enumerate((1e6, 3e6, 1e7, 3e7, 1e8))
        for j, D in enumerate((2e7, 1e8, 5e8, 2e9, 1e10))
    ]
    path = folder / "runs.csv"
    path.write_text("\n".join(["N,D,loss", *rows]) + "\n", encoding="ascii")
    return path


WALKS: dict[str, Callable[[Path], None]] = {
    "predict": predict,
    "simulate": simulate,
    "fit": fit,
    "forecast": forecast,
    "slider": slider,
}


def files_run(name: str) -> list[str]:
    """The files of one walk, in the order in which they are reached."""
    done = subprocess.run(
        [sys.executable, __file__, "--here", name], capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


def _files_run_here(name: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        WALKS[name](Path(folder))
    sys.setprofile(None)
    threading.setprofile(None)
    return list(_found)


def _watch() -> None:
    import sparselaw

    package = str(Path(sparselaw.__file__).parent) + "/"

    def seen(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(package):
            return
        if (name := file.removeprefix(package)) not in _found and not _importing(frame):
            _found[name] = None

    threading.setprofile(seen)
    sys.setprofile(seen)


_found: dict[str, None] = {}


def _importing(frame: FrameType | None) -> bool:
    """Whether the body of a module or a class is being run, here or by who called."""
    while frame is not None and frame.f_code.co_filename != __file__:
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return True
        frame = frame.f_back
    return False


def main(words: list[str]) -> None:
    if words[:1] == ["--here"]:
        print(json.dumps(_files_run_here(words[1])))
        return
    for name in words or WALKS:
        files = files_run(name)
        print(f"{name}: {len(files)} files (at most {MOST[name]})")
        print("  " + " > ".join(file.removesuffix(".py") for file in files))


if __name__ == "__main__":
    main(sys.argv[1:])
