"""The built package as a stranger gets it: wheel and source archive, installed alone, every command tried.

``python tests/package/check_package.py [--lowest | --newest] [PYTHON ...]`` builds both, looks into them,
installs the wheel with each Python (by default the one that runs this) in an environment of its own, away
from the source, and runs every command. Other packages have the pinned versions; with ``--lowest`` the oldest
that pyproject.toml allows, with ``--newest`` whatever is newest. It ends with what passed and what failed,
and with exit code 1 where anything did.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = "N,D,loss\n" + "\n".join(
    f"{N},{D},{1.5 + 40 * N**-0.4 + 300 * D**-0.5:.6f}"
    for N in (1e6, 3e6, 1e7, 3e7)
    for D in (1e8, 1e9, 1e10)
)
WORDS = "\n".join(f"word{i % 5} word{i % 13} word{i}" for i in range(120))
MODEL = "--alpha1 1 --alpha2 0.3"
# What must work with nothing but the wheel.
COMMANDS = (
    "--version",
    "--help",
    f"predict {MODEL} -N 64 -D 1e4 --json",
    f"simulate {MODEL} -N 8,16 -D 200 --seeds 2 --store runs.sqlite --out runs_out.csv --json",
    f"networks {MODEL} --width 4 -D 20,40,80 --seeds 2 --steps 40 --store runs.sqlite --json",
    "runs list --store runs.sqlite",
    "fit runs.csv --bootstrap 20 --json",
    "plan runs.csv --budget 1e20 --json",
    "forecast runs.csv --at N=1e8,D=1e10 --json",
    "measure words.txt --json",
    "learn words.txt -D 8,16,32 -N 4 --seeds 2 --json",
    "failure --alpha1 1.5 --alpha2 -2 -D 100 --threshold 8 --method exact-spike --json",
    "reproduce figure-1 --quick --out reproduction",
    "doctor",
)
# What needs an extra, and which one it must name.
NEEDING = (
    (f"simulate {MODEL} -N 8 -D 100 --seeds 1 --scheduler tcp://127.0.0.1:1", "sparselaw[dask]"),
    ("explore --no-browser", "sparselaw[explore]"),
    ("networks --alpha1 1 --task facts --network transformer -D 10", "sparselaw[torch]"),
)


def main(arguments: list[str]) -> int:
    pythons = [word for word in arguments if not word.startswith("--")] or [sys.executable]
    outcomes: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "built"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        subprocess.run(
            [sys.executable, "-m", "build", "--outdir", built, ROOT], check=True, stdout=subprocess.DEVNULL
        )
        outcomes += contents(built)
        pins = Path(folder) / "pins.txt"
        pins.write_text(versions(arguments), encoding="utf-8")
        for python in pythons:
            outcomes += installed(python, next(built.glob("*.whl")), Path(folder), environment, pins)
    for name, problem in outcomes:
        print(f"{'failed' if problem else 'passed'}  {name}{': ' + problem if problem else ''}")
    failed = sum(1 for _, problem in outcomes if problem)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0


def versions(arguments: list[str]) -> str:
    """Which version of each package is installed beside the wheel, as pip's constraints."""
    if "--newest" in arguments:
        return ""
    if "--lowest" in arguments:
        needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
        return "\n".join(line.replace(">=", "==") for line in needed)
    return (ROOT / "constraints.txt").read_text("utf-8")


def contents(built: Path) -> Iterator[tuple[str, str]]:
    """Nothing missing, nothing too much."""
    wheel = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        source = archive.getnames()
    inside = {
        f"sparselaw/{file.relative_to(ROOT / 'src' / 'sparselaw')}" for file in tracked("src/sparselaw")
    }
    yield "the wheel has every file of the package", ", ".join(sorted(inside - set(wheel)))
    others = [name for name in wheel if name not in inside and ".dist-info/" not in name]
    yield "the wheel has nothing else", ", ".join(others)
    names = {name.split("/", 1)[-1] for name in source}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/sparselaw/py.typed"}
    yield "the source archive can be built from", ", ".join(sorted(needed - names))


def tracked(folder: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [ROOT / line for line in listed.stdout.splitlines()]


def installed(
    python: str, wheel: Path, folder: Path, environment: dict[str, str], pins: Path
) -> Iterator[tuple[str, str]]:
    """The wheel alone with this Python: every command runs, or names the extra it needs."""
    place = folder / f"env-{Path(python).name}"
    if python == sys.executable:
        venv.create(place, with_pip=True)
    else:
        subprocess.run([python, "-m", "venv", place], check=True)
    pip = [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", pins, wheel], check=True, env=environment)
    work = folder / f"work-{Path(python).name}"
    work.mkdir()
    (work / "runs.csv").write_text(RUNS, encoding="utf-8")
    (work / "words.txt").write_text(WORDS, encoding="utf-8")

    def run(line: str) -> subprocess.CompletedProcess[str]:
        command = [str(place / "bin" / "sparselaw"), *line.split()]
        return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=600)

    version = subprocess.run(
        [place / "bin" / "python", "-V"], capture_output=True, text=True, check=True
    ).stdout.strip()
    for line in COMMANDS:
        done = run(line)
        last = done.stderr.strip().splitlines()[-1:] or ["no word"]
        yield (
            f"{version}: sparselaw {line}",
            "" if done.returncode == 0 else f"exit {done.returncode}: {last[0]}",
        )
    for line, extra in NEEDING:
        done = run(line)
        good = done.returncode == 2 and extra in done.stderr and len(done.stderr.splitlines()) == 1
        yield (
            f"{version}: sparselaw {line}",
            "" if good else f"exit {done.returncode}: {done.stderr.strip()[-200:]}",
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
