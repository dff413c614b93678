"""Puts the commands together and turns every outcome into an exit code.

Whatever goes wrong ends here: bad input, Ctrl-C, a reader that went away, a full disk, a failure of ours.
Each is one line on standard error and one of four codes.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

import sparselaw
from sparselaw.cli.compare import compare
from sparselaw.cli.curve import curve
from sparselaw.cli.doctor import doctor
from sparselaw.cli.explore import explore
from sparselaw.cli.failure import failure
from sparselaw.cli.fit import fit
from sparselaw.cli.forecast import forecast
from sparselaw.cli.learn import learn
from sparselaw.cli.measure import measure
from sparselaw.cli.networks import networks
from sparselaw.cli.next import next_
from sparselaw.cli.options import Command, as_typer_reads
from sparselaw.cli.output import Stopped, note, own_streams, say, throw_away
from sparselaw.cli.plan import plan
from sparselaw.cli.predict import predict
from sparselaw.cli.reproduce import reproduce
from sparselaw.cli.runs import runs
from sparselaw.cli.simulate import simulate
from sparselaw.errors import InputError, one_line
from sparselaw.interrupts import ctrl_c_kept


class ReaderGone(Exception):
    """What reads our output went away, as `head` does: not a failure, and nothing left to say."""


class _Commands(TyperGroup):
    """Tells of a reader that went away, and of Ctrl-C, before typer makes something of its own of them."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        try:
            return super().make_context(*args, **settings)
        except BrokenPipeError:  # the help text
            raise ReaderGone from None

    def invoke(self, ctx: Any) -> Any:
        try:
            with ctrl_c_kept():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGone from None
        except Stopped:
            raise
        except KeyboardInterrupt as error:  # a command that writes only when it ends
            if isinstance(error.__context__, Stopped):  # once more, when all is said
                raise Stopped from None
            note("stopped; nothing was written: the same command begins anew")
            raise


app = typer.Typer(
    name="sparselaw",
    cls=_Commands,
    help="From training runs: forecasts, budgets, comparisons with intervals; the theory of sparse features.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


COMMANDS: dict[Callable[..., None], str] = {  # in the order of --help, each with the question it answers
    fit: "Which law, how well it fits, how sure.",
    forecast: "The loss of a run not yet made.",
    plan: "The best N and D for a budget.",
    compare: "Which recipe is better, and what it saves.",
    next_: "Which runs to make now.",
    curve: "Where a running job ends; other schedules.",
    measure: "How sparse your features are.",
    learn: "Which theory describes their learning.",
    predict: "The theory: exponents and loss surface.",
    simulate: "An exact simulation beside the theory.",
    failure: "When gradient descent diverges.",
    networks: "Networks trained on sparse inputs.",
    reproduce: "The paper's figures beside its numbers.",
    explore: "A page on your machine for all of it.",
    doctor: "Is the installation sound?",
}
for command, question in COMMANDS.items():
    if command is doctor:
        app.add_typer(runs, name="runs")
    name = command.__name__.rstrip("_")
    app.command(name, cls=Command, short_help=question)(as_typer_reads(command))


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        print(sparselaw.__version__)
        raise typer.Exit


def run(arguments: list[str] | None) -> int:
    """The exit code of one command. Without ``arguments`` the process is ours: it was given them."""
    if arguments is None:
        gc.set_threshold(100_000, 50, 100)  # looking for garbage among imports takes a fifth of them
        own_streams()
    code = _run(arguments)
    if arguments is None:  # all is said: a further Ctrl-C is no other end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _run(arguments: list[str] | None) -> int:
    try:
        code: Any = app(args=arguments, standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _end(2, str(error))
    except KeyboardInterrupt:
        return 130
    except (ReaderGone, BrokenPipeError):
        throw_away(sys.stdout, sys.stderr)
        return 0
    except OSError as error:
        return _of_the_system(error)
    except MemoryError:
        return _end(1, "there is not enough memory for this; ask for smaller sizes, or less at once")
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # sparselaw alone
            print(error.format_message())  # type: ignore[attr-defined]
            return 0
        if hasattr(error, "format_message"):  # typer's own: an unknown option, a missing value
            return _end(2, _usage_message(error))
        if type(error).__name__ == "Abort":
            return 130
        if os.environ.get("SPARSELAW_TRACEBACK"):
            raise
        return _end(1, _failure_of_ours(error))
    return code if isinstance(code, int) else 0


def _usage_message(error: Any) -> str:
    """Typer's usage errors in the shape of ours: <name>=<value>: <condition>; <remedy>."""
    command = error.ctx.command_path if getattr(error, "ctx", None) else "sparselaw"
    remedy = f"see '{command} --help'"
    parameter = getattr(error, "param", None)
    option = getattr(error, "option_name", None)
    if type(error).__name__ == "MissingParameter" and parameter is not None:
        return f"{parameter.name}=: is missing; give {'/'.join(parameter.opts)}, {remedy}"
    name = option or (parameter.name if parameter is not None else "arguments")
    given = " ".join(sys.argv[1:])[:300]
    message = " ".join(error.format_message().rstrip(".").split())
    return f"{name.lstrip('-')}={given if name == 'arguments' else ''}: {message}; {remedy}"


OF_A_PATH = {
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP,
    errno.EROFS, errno.EINVAL, errno.ENXIO, errno.ENODEV, errno.ETXTBSY,
}  # fmt: skip


def _of_the_system(error: OSError) -> int:
    """What the system refused: about a path that was given, or because a disk or the output is full."""
    why = error.strerror or type(error).__name__
    if error.filename is not None and error.errno in OF_A_PATH:
        return _end(2, f"path={os.fsdecode(error.filename)}: cannot be used ({why}); check the path")
    throw_away(sys.stdout)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _end(1, f"nothing more can be written ({why}); free some space and run again")
    if error.errno == errno.EBADF:
        return _end(1, "standard output is closed; send it to a file or a terminal")
    return _end(1, f"the system refused ({why}{f': {error.filename}' if error.filename else ''}); try again")


def _failure_of_ours(error: Exception) -> str:
    where = ""
    if frames := traceback.extract_tb(error.__traceback__):
        where = f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"
    remedy = "please report it; SPARSELAW_TRACEBACK=1 shows more"
    return f"a failure of ours ({type(error).__name__}{where}: {str(error)[:200]}); {remedy}"


def _end(code: int, line: str) -> int:
    say(f"sparselaw: error: {one_line(line)}")
    return code
