"""Command lines made from what --help offers: any options, with values that fit, nearly fit, or do not."""

from __future__ import annotations

import functools

from fuzz.cases import NUMBERS, SIZES, WORDS, Case, Draw
from fuzz.tables import ordinary_table

SLOW = {"explore", "reproduce", "doctor", "networks"}  # asked for with --help or with what is refused
NEEDED = {
    "predict": ["--alpha1", "1", "--alpha2", "0.3", "-N", "16,64", "-D", "32"],
    "simulate": ["--alpha1", "1", "--alpha2", "0.3", "-N", "4", "-D", "8", "--seeds", "2", "--store",
    "s.sqlite",
                 "--quiet"],
    "plan": ["--alpha1", "1", "--alpha2", "0.3", "--budget", "1e6"],
    "failure": ["--alpha1", "1", "--alpha2", "0.3", "-N", "8", "-D", "4", "--trials", "200"],
    "fit": ["runs.csv", "--bootstrap", "0", "--no-leave-out"],
    "forecast": ["runs.csv", "--at", "N=1e10,D=2e11"],
    "measure": ["words.txt"],
    "learn": ["words.txt", "-D", "8", "-N", "2", "--seeds", "2"],
    "runs": ["list", "--store", "s.sqlite"],
}  # fmt: skip
SMALL = {"--seeds": ("1", "2", "0", "x"), "--trials": ("1", "50", "0", "1e3", "-4"), "--workers": ("1",
"0", "x"),
         "--bootstrap": ("0", "5", "-1", "x"), "--scheduler": ("x", "tcp://", "tcp://127.0.0.1:1"),
         "--steps": ("1", "10", "0", "x"), "--passes": ("1", "2", "0", "inf"), "--seed": ("0", "1", "-1",
         "x"),
         "--max-size": ("1kB", "4GB", "x", "-1"), "--dimension": ("1", "2", "30", "inf", "0", "x",
         "1000")}  # fmt: skip
PATHS = ("out.csv", "out.json", "out.svg", "out.html", "no/such/x.csv", "runs.csv", "words.txt", ".", "",
         "/dev/null",
         "x" * 300 + ".csv", "s.sqlite", "out.parquet", "m.json", "/dev/full")  # fmt: skip


@functools.cache
def options() -> dict[str, list[tuple[str, str, bool]]]:
    """Command -> (option, kind of value, whether it takes one)."""
    import typer

    from sparselaw.cli.app import app

    group = typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        found[name] = [
            (text, str(parameter.metavar or ""), not getattr(parameter, "is_flag", False))
            for parameter in command.params
            for text in (*parameter.opts, *parameter.secondary_opts)
            if text.startswith("-")
        ]
    return found


def likely(draw: Draw, option: str, kind: str) -> str | None:
    """A value that fits, where it is known which do."""
    files = {"--out": ("out.csv", "out.json"), "--plot": ("out.svg", "out.png"), "--report": ("out.html",)}
    if option in files:
        return draw.pick(files[option])
    if option in SMALL:
        return SMALL[option][draw.whole(0, 2)]
    if option == "--at":
        return "N=1e10,D=2e11"
    if "SIZES" in kind:
        return draw.pick(("1", "2", "4", "8,16", "4:64:3", "64"))
    if "FLOAT" in kind:
        return draw.pick(("0.1", "0.5", "1", "1.5", "3", "1e-6", "1e-3", "20"))
    if "INTEGER" in kind:
        return draw.pick(("1", "2", "5", "10"))
    return draw.pick(kind.split("|")) if "|" in kind and "FILE" not in kind else None


def value(draw: Draw, option: str, kind: str) -> str:
    fits = likely(draw, option, kind)
    if fits is not None and draw.chance(0.7):
        return fits
    if option in SMALL:
        return draw.pick(SMALL[option])
    if option in ("--out", "--plot", "--report", "--store", "--inputs"):
        return draw.pick(PATHS)
    if "FLOAT" in kind or "INTEGER" in kind:
        return draw.pick(NUMBERS)
    if "SIZES" in kind:
        return draw.pick(SIZES)
    if "|" in kind and draw.chance(0.6):
        return draw.pick(kind.split("|"))
    return draw.pick(WORDS + NUMBERS)


def command_line(draw: Draw) -> Case:
    """One command with a few options more, fewer or other than it needs."""
    known = options()
    name = draw.pick([*NEEDED] * 4 + sorted(SLOW) + ["no-such", ""])
    files = {"runs.csv": ordinary_table(draw), "words.txt": words(draw)}
    if name not in known or name in SLOW:
        given = [
            name,
            draw.pick(["--help", "--no-such", "--json=3", "x" * 9, "--port=x", "--items=x", "--out="]),
        ]
        return Case(kind="command lines", arguments=tuple(given), files=files)
    given = list(NEEDED[name])
    for option, kind, takes in draw.some(known[name], 3):
        given += [option, value(draw, option, kind)] if takes else [option]
    if draw.chance(0.05):
        given.pop(draw.whole(0, len(given)))
    if draw.chance(0.05):
        given.insert(draw.whole(0, len(given) + 1), draw.pick(WORDS + PATHS))
    if draw.chance(0.3):
        given.append("--json")
    clean = [text.replace("\0", "") for text in given]
    return Case(kind="command lines", arguments=(name, *clean), files=files)


def words(draw: Draw) -> bytes:
    rows = (
        " ".join(f"w{int(99 * draw.rng.random() ** 3)}" for _ in range(6)) for _ in range(draw.whole(70, 120))
    )
    return "\n".join(rows).encode()
