"""Puts the commands together and turns every outcome into an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any

import typer
from typer.core import TyperGroup

import sparselaw
from sparselaw.cli.doctor import doctor
from sparselaw.cli.explore import explore
from sparselaw.cli.failure import failure
from sparselaw.cli.fit import fit
from sparselaw.cli.forecast import forecast
from sparselaw.cli.further_options import TakesInputs, TakesRareInputs
from sparselaw.cli.learn import learn
from sparselaw.cli.measure import measure
from sparselaw.cli.networks import networks
from sparselaw.cli.output import Stopped, note
from sparselaw.cli.plan import plan
from sparselaw.cli.predict import predict
from sparselaw.cli.reproduce import reproduce
from sparselaw.cli.runs import runs
from sparselaw.cli.simulate import simulate
from sparselaw.errors import InputError
from sparselaw.interrupts import ctrl_c_kept

# simulate refuses by itself what neither the inputs nor the solver know.
OPTIONS_OF_SOLVERS = {"allow_extra_args": True, "ignore_unknown_options": True}


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
    help="Scaling laws from sparse features: theory, exact simulation, fits and plans.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=TakesInputs)(predict)
app.command(cls=TakesInputs, context_settings=OPTIONS_OF_SOLVERS)(simulate)
app.command()(networks)
app.command()(fit)
app.command(cls=TakesInputs)(plan)
app.command()(forecast)
app.command(cls=TakesRareInputs)(failure)
app.command()(measure)
app.command()(learn)
app.command()(reproduce)
app.command()(explore)
app.add_typer(runs, name="runs")
app.command()(doctor)


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        print(sparselaw.__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run one command. 0 done; 2 bad input, in one line; 1 a failure of ours; 130 on Ctrl-C."""
    if arguments is None:  # the process is ours, and looking for garbage among imports takes a fifth of them
        gc.set_threshold(100_000, 50, 100)
    code = _run(arguments)
    if code == 130 and arguments is None:  # what is kept is said: a further Ctrl-C is no other end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    try:
        code: Any = app(args=arguments, standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130
    except (ReaderGone, BrokenPipeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # for what is still in the buffers
        os.dup2(nowhere, sys.stderr.fileno())
        return 0
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # sparselaw alone
            print(error.format_message())  # type: ignore[attr-defined]
            return 0
        if hasattr(error, "format_message"):  # typer's own: an unknown option, a missing value
            return _refuse(_usage_message(error))
        if type(error).__name__ == "Abort":
            return 130
        raise
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
    given = " ".join(sys.argv[1:])
    message = error.format_message().rstrip(".").replace("\n", " ")
    return f"{name.lstrip('-')}={given if name == 'arguments' else ''}: {message}; {remedy}"


def _refuse(line: str) -> int:
    print(f"sparselaw: error: {line}", file=sys.stderr)
    return 2
