"""One question of the page: its state as text, read and refused by the library's own rules."""

from __future__ import annotations

import functools
import math
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw import numbers
from sparselaw.errors import InputError, check_choice, check_not_negative, check_positive
from sparselaw.inputs import Inputs, TabulatedInputs, kind_of, written_inputs
from sparselaw.inputs.base import DEFAULT_KIND, option_names
from sparselaw.numbers import typed
from sparselaw.solvers import MinNorm, Ridge, Solver, from_options, settings_of

if TYPE_CHECKING:
    from sparselaw.explore.session import Session

MEASURED = "measured"
MEASUREMENT = "the JSON of 'sparselaw measure FILE --json'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """``given`` comes from the URL or a widget's message: nothing of it has been checked yet.

    ``stop`` is set when nobody waits for the answer any more.
    """

    given: Mapping[str, str]
    session: Session
    body: bytes = b""
    stop: threading.Event = field(default_factory=threading.Event)

    def text(self, name: str, default: str = "") -> str:
        return str(self.given.get(name, "")).strip() or default

    def real(self, name: str, default: float | None = None) -> float:
        return numbers.real(name, self._needed(name, default))

    def not_negative(self, name: str, default: float | None = None) -> float:
        return check_not_negative(name, self.real(name, default))

    def positive(self, name: str, default: float | None = None) -> float:
        return check_positive(name, self.real(name, default))

    def size(self, name: str, default: int | None = None) -> int:
        return numbers.size(name, self._needed(name, default))

    def sizes(self, name: str, default: str | None = None, *, most: int = 0) -> list[int]:
        """A list as on the command line: 4,8,16 or start:stop:count. ``most`` limits its length."""
        found = numbers.sizes(name, text := self._needed(name, default))
        if most and len(found) > most:
            raise InputError(name, text, f"has {len(found)} values", f"give at most {most}")
        return found

    def choice(self, name: str, allowed: list[str]) -> str:
        """One of a few words; the first where nothing is given."""
        return check_choice(name, self.text(name, allowed[0]), allowed)

    def inputs(self) -> Inputs:
        """The inputs that the state describes: kind, exponents and dimension, or a measurement."""
        name = self.text("inputs", "sparse")
        if name == MEASURED:
            key = self.text("table")  # of this session, never a path
            if not key:
                raise InputError("inputs", MEASURED, "needs a measurement", f"drop {MEASUREMENT}")
            return read_measured(self.session.uploads.find(key), json_name(self.text("table_name")))
        kind = kind_of(name)  # by its name alone: the page names no paths
        given = {option: text for option in option_names(kind) if (text := self.text(option))}
        return written_inputs(name, given, self.text("dimension") or None)

    def file_name(self, default: str) -> str:
        """The person's own name of the file, without its folders: for words and code only, never opened."""
        return last_part(self.text("file_name")) or default

    def dropped(self, what: str, name: str, remedy: str, content: bytes = b"") -> str:
        """The key of the file that was dropped, or of a sample with this ``content``."""
        if not (content or self.body):
            raise InputError(what, name, "is empty", remedy)
        return self.session.uploads.keep(name, content or self.body)

    def upload(self, key: str = "upload") -> Path:
        """Where the file lies that was dropped before."""
        if not self.text(key):
            raise InputError("runs", "", "no table is here yet", "drop a table of runs on the page Your runs")
        return self.session.uploads.find(self.text(key))

    def _needed(self, name: str, default: object) -> str:
        text = self.text(name)
        if not text and default is None:
            raise InputError(name, "", "is missing", f"give {name}")
        return text or f"{default}"


Values = Callable[[Call], dict[str, Any]]
Stream = Callable[[Call], Iterator[dict[str, Any]]]


@contextmanager
def under_its_name(path: object, name: str) -> Iterator[None]:
    """Refusals speak of the person's file, not of ours."""
    try:
        yield
    except InputError as error:
        if error.name != "file" and str(error.value) != str(path):
            raise
        raise InputError(error.name, name, error.condition, error.remedy) from None


def refusal(error: InputError) -> dict[str, Any]:
    """The library's own line, and which control it is about."""
    return {"refused": str(error), "name": error.name, "condition": error.condition, "remedy": error.remedy}


def shell(command: str, **options: Any) -> str:
    """A line for the shell; what is None is left out.

    >>> shell("predict", alpha1=1.0, N="4,8", ridge=None)
    'sparselaw predict --alpha1 1 -N 4,8'
    """
    words = ["sparselaw", command]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(typed(value))
    return shlex.join(words)


def code_of(command: str, *lines: str) -> dict[str, str]:
    """What gives the same answer away from the page: a line for the shell, and lines of Python."""
    return {"shell": command, "python": "\n".join(["import sparselaw as sl", "", *lines])}


def input_python(inputs: Inputs) -> str:
    """The line that makes the inputs in Python, where the package is called sl.

    >>> from sparselaw.inputs import SparseInputs
    >>> input_python(SparseInputs(alpha1=1.0, alpha2=0.3))
    'model = sl.SparseInputs(alpha1=1, alpha2=0.3)'
    """
    name, module = type(inputs).__name__, type(inputs).__module__
    if inputs.suffixes:
        return f"model = sl.{name}.from_file({inputs.source!r})"
    infinite = 'float("inf")'
    values = {
        key: infinite if value == math.inf else repr(value) if isinstance(value, str) else typed(value)
        for key, value in _told(inputs).items()
    }
    shown = ", ".join(f"{key}={value}" for key, value in values.items())
    return f"model = {'sl' if module.startswith('sparselaw.') else module}.{name}({shown})"


def input_options(inputs: Inputs) -> dict[str, Any]:
    """The options of the command line that describe the inputs, without those that are the usual ones."""
    if inputs.suffixes:
        return {"inputs": inputs.source}
    kind = inputs.kind
    return ({} if kind == DEFAULT_KIND else {"inputs": kind}) | _told(inputs)


def _told(inputs: Inputs) -> dict[str, Any]:
    """The parameters, without the dimension where it is the usual one."""
    values = inputs.parameters()
    usual = {name: value for name, value in values.items() if name != "dimension"}
    return usual if type(inputs)(**usual) == inputs else values


def last_part(path: str) -> str:
    r"""The name of a file without its folders, and not too long.

    >>> last_part("C:\\data\\words.json"), last_part("../x")
    ('words.json', 'x')
    """
    return path.replace("\\", "/").split("/")[-1][:80]


def json_name(given: str) -> str:
    """The same, ending as the command line wants it.

    >>> json_name("../x"), json_name("")
    ('x.json', 'measured.json')
    """
    last = last_part(given) or "measured"
    return last if last.lower().endswith(".json") else f"{last}.json"


@functools.lru_cache(maxsize=8)
def read_measured(path: Path, name: str) -> TabulatedInputs:
    """The name is the person's: for words and for the code that is taken away."""
    with under_its_name(path, name):
        return TabulatedInputs.from_file(path).named(name)


# What trains the readout: to the end, with a ridge, or stopped early.

SETTINGS = {
    "min-norm": (),
    "gd": ("steps", "step", "momentum"),
    "sgd": ("passes", "step", "batch", "momentum"),
}
USUAL = {"steps": "100", "passes": "1", "batch": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A solver with the noise of the labels; ``early`` where it is stopped before the end."""

    solver: Solver
    early: bool
    ridge: float
    noise: float

    @classmethod
    def of(cls, call: Call) -> Training:
        name = call.choice("solver", list(SETTINGS))
        early = name != "min-norm"
        ridge = 0.0 if early else call.not_negative("ridge", 0.0)
        solver: Solver = Ridge(ridge=ridge) if ridge > 0.0 else MinNorm()
        if early:
            given = {option: call.text(option, USUAL.get(option, "")) or None for option in SETTINGS[name]}
            solver = from_options(name, given)
        return cls(solver=solver, early=early, ridge=ridge, noise=call.not_negative("noise", 0.0))

    def theory(self) -> dict[str, Any]:
        """The arguments of ``prediction``."""
        if self.early:
            return {"solver": self.solver, "noise": self.noise, "form": "quasi-static"}
        return {"ridge": self.ridge, "noise": self.noise}

    def _given(self, trial: bool) -> dict[str, Any]:
        """The same for a prediction or a trial, which knows no form, without what is usual."""
        given = self.theory()
        if trial:
            given.pop("form", None)
            if given.pop("ridge", 0.0) > 0.0:
                given = {"solver": self.solver} | given
        return {name: value for name, value in given.items() if value != 0.0}

    def options(self, *, trial: bool = False) -> dict[str, Any]:
        """The options of ``sparselaw predict``, or of ``simulate`` for a trial."""
        given = self._given(trial)
        solver = given.pop("solver", None)
        return ({"solver": solver.name} | settings_of(solver) if solver else {}) | given

    def python(self, *, trial: bool = False) -> str:
        """The same as further arguments in Python."""
        quoted = {"solver": f"sl.{self.solver!r}", "form": '"quasi-static"'}
        given = self._given(trial)
        return "".join(f", {name}={quoted.get(name) or typed(value)}" for name, value in given.items())
