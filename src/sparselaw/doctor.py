"""Is this installation sound? What it stands on, and a few numbers of every room beside stored values."""

from __future__ import annotations

import math
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import sparselaw as sl
from sparselaw.records import html_table, to_dict

COLUMNS = ("what", "found")
TOLERANCE = 1e-6  # relative: other processors and BLAS libraries round otherwise, and no more than that
REQUIRED = (
    "numpy", "scipy", "numba", "pandas", "matplotlib", "typer", "rich", "jinja2", "platformdirs", "psutil",
    "threadpoolctl",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One number of the self-test: its value here, the stored one, and what went wrong, if it did."""

    name: str
    expected: float
    found: float
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem and math.isclose(self.found, self.expected, rel_tol=TOLERANCE)

    @property
    def outcome(self) -> str:
        if self.passed:
            return "as stored"
        return self.problem or f"{self.found:.9g} where {self.expected:.9g} is stored"

    def as_dict(self) -> dict[str, object]:
        return to_dict(self, "name", "expected", "found", "passed", "outcome", found=self.problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Versions, machine, the packages that each extra still needs, and the self-test."""

    versions: dict[str, str]
    system: dict[str, str]
    extras: dict[str, list[str]]
    checks: tuple[Check, ...]

    @property
    def status(self) -> str:
        """``ok``, or which numbers of the self-test are not what they should be."""
        wrong = [check.name for check in self.checks if not check.passed]
        return "ok" if not wrong else "self-test failed: " + ", ".join(wrong)

    def rows(self) -> list[tuple[str, str]]:
        """For a table: what, and what was found."""
        return [
            *self.versions.items(),
            *self.system.items(),
            *(
                (f"extra {name}", f"needs {', '.join(missing)}" if missing else "installed")
                for name, missing in self.extras.items()
            ),
            *((check.name, check.outcome) for check in self.checks),
        ]

    def as_dict(self) -> dict[str, object]:
        return {
            "status": self.status,
            "versions": self.versions,
            "system": self.system,
            "extras": {name: {"installed": not m, "missing": m} for name, m in self.extras.items()},
            "self_test": [check.as_dict() for check in self.checks],
        }

    def _repr_html_(self) -> str:
        return html_table("sparselaw doctor", COLUMNS, self.rows(), [f"status: {self.status}"])


def examine(progress: Callable[[int, int, str], None] | None = None) -> Health:
    """Look at the machine and run the self-test; ``progress`` hears of each check that is done."""
    done: list[Check] = []
    for name, (compute, expected) in CHECKS.items():
        try:
            done.append(Check(name=name, expected=expected, found=float(compute())))
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
            done.append(Check(name=name, expected=expected, found=math.nan, problem=problem))
        if progress is not None:
            progress(len(done), len(CHECKS), name)
    return Health(versions=versions(), system=system(), extras=missing_extras(), checks=tuple(done))


def versions() -> dict[str, str]:
    """Of the package, of Python and of every package that it requires."""
    own = {"sparselaw": sl.__version__, "python": platform.python_version()}
    return own | {name: metadata.version(name) for name in REQUIRED}


def system() -> dict[str, str]:
    """Cores, memory, BLAS, and where compiled code is kept."""
    import psutil
    import scipy.linalg  # noqa: F401  # loads the BLAS that it calls
    from threadpoolctl import threadpool_info

    from sparselaw.compiled import njit

    memory = psutil.virtual_memory()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    blas = {
        f"{one['internal_api']} {one['version'] or '?'} ({one['num_threads']} threads)"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    kept: Any = njit()(versions)  # never called: only asked where it would be kept
    return {
        "system": platform.platform(),
        "cores": f"{usable} of {os.cpu_count()}",
        "memory": f"{memory.available / 2**30:.1f} GiB free of {memory.total / 2**30:.1f}",
        "blas": ", ".join(sorted(blas)) or "not known",
        "compiled code": str(getattr(kept._cache, "cache_path", "not kept: no folder can be written")),
    }


def missing_extras() -> dict[str, list[str]]:
    """The extras of this distribution, as in ``sparselaw[dask]``, with the packages that each still needs."""
    from packaging.requirements import Requirement

    def asked_by(marker: Any, extra: str) -> bool:
        return bool(marker.evaluate({"extra": extra}))

    needs = [Requirement(line) for line in metadata.requires("sparselaw") or ()]
    found: dict[str, list[str]] = {}
    for name in metadata.metadata("sparselaw").get_all("Provides-Extra") or ():
        own = {n.name for n in needs if n.marker and asked_by(n.marker, name) and not asked_by(n.marker, "")}
        found[name] = sorted(package for package in own if not _is_there(package))
    found.pop("dev", None)
    return found


def _is_there(package: str) -> bool:
    from importlib.util import find_spec

    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return find_spec(package.replace("-", "_")) is not None
    return True


def _surface() -> float:
    return sl.predict(sl.SparseInputs(alpha1=1.0, alpha2=0.3), N=256, D=50_000, surface="leading").loss


def _simulated(**settings: Any) -> float:
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    with tempfile.TemporaryDirectory() as folder:
        runs = sl.simulate(inputs, seeds=2, store=Path(folder) / "runs.sqlite", **settings)
    return float(runs["loss"].mean())


def _fitted() -> float:
    sizes = [(2.0**k, D) for k in range(4, 12) for D in (1e3, 1e4, 1e5)]
    losses = [1.5 + 40.0 * N**-0.4 + 300.0 * D**-0.5 for N, D in sizes]
    table = {"N": [N for N, _ in sizes], "D": [D for _, D in sizes], "loss": losses}
    return sl.fit(table, bootstrap=0).params["E"].best


def _planned() -> float:
    law = sl.ChinchillaLaw(E=1.7, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
    return sl.plan(law, budget=1e21, cost="6nd").N.best


def _diverging() -> float:
    inputs = sl.SparseInputs(alpha1=1.5, alpha2=-2.0)
    return sl.failure_probability(inputs, D=[1000], threshold=8.0, method="exact-spike").points[0].spike


# Each with its stored value, which is changed only where the number was meant to change.
CHECKS: dict[str, tuple[Callable[[], float], float]] = {
    "loss surface": (_surface, 1.0916670780055822e-05),
    "simulated loss, linear features": (lambda: _simulated(N=32, D=1000), 0.0015128575995442812),
    "simulated loss, ReLU features": (lambda: _simulated(N=16, D=200, features="relu"), 0.020737433743069328),
    "simulated loss, two workers": (lambda: _simulated(N=[16, 24], D=400, workers=2), 0.003165292331075216),
    "fitted floor": (_fitted, 1.4999999999989613),
    "planned size": (_planned, 2937765418.752517),
    "failure by a spike": (_diverging, 0.0009311738371182436),
}
