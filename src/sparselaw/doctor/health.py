"""The whole examination as one record."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import sparselaw
from sparselaw.doctor.self_test import CHECKS, Check, checks
from sparselaw.plain import html_table

COLUMNS = ("what", "found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Versions, machine, extras and the self-test."""

    versions: dict[str, str]
    system: dict[str, str]
    extras: tuple[Extra, ...]
    checks: tuple[Check, ...]

    @property
    def status(self) -> str:
        """``ok``, or which numbers of the self-test are not what they should be."""
        wrong = [check.name for check in self.checks if not check.passed]
        return "ok" if not wrong else "self-test failed: " + ", ".join(wrong)

    def rows(self) -> list[tuple[str, str]]:
        """For a table: what, and what was found."""
        needs = {e.name: "installed" if e.installed else f"needs {', '.join(e.missing)}" for e in self.extras}
        return [
            *self.versions.items(),
            *self.system.items(),
            *((f"extra {name}", found) for name, found in needs.items()),
            *((check.name, check.outcome) for check in self.checks),
        ]

    def as_dict(self) -> dict[str, object]:
        return {
            "status": self.status,
            "versions": self.versions,
            "system": self.system,
            "extras": {extra.name: extra.as_dict() for extra in self.extras},
            "self_test": [check.as_dict() for check in self.checks],
        }

    def _repr_html_(self) -> str:
        return html_table("sparselaw doctor", COLUMNS, self.rows(), [f"status: {self.status}"])


def examine(progress: Callable[[int, int, str], None] | None = None) -> Health:
    """Look at the machine and run the self-test; ``progress`` hears of each check that is done."""
    done: list[Check] = []
    for check in checks():
        done.append(check)
        if progress is not None:
            progress(len(done), len(CHECKS), check.name)
    return Health(versions=versions(), system=system(), extras=extras(), checks=tuple(done))


REQUIRED = (
    "numpy", "scipy", "numba", "pandas", "matplotlib", "typer", "rich", "jinja2", "platformdirs", "psutil",
    "threadpoolctl",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """A group of optional packages, by the name that pip takes in ``sparselaw[name]``."""

    name: str
    missing: tuple[str, ...]

    @property
    def installed(self) -> bool:
        return not self.missing

    def as_dict(self) -> dict[str, object]:
        return {"installed": self.installed, "missing": list(self.missing)}


def versions() -> dict[str, str]:
    """Of the package, of Python, of the system and of every package that it requires."""
    own = {"sparselaw": sparselaw.__version__, "python": platform.python_version()}
    return own | {name: metadata.version(name) for name in REQUIRED}


def system() -> dict[str, str]:
    """Cores, memory and BLAS, in words."""
    import psutil

    memory = psutil.virtual_memory()
    return {
        "system": platform.platform(),
        "cores": f"{available_cores()} of {os.cpu_count()}",
        "memory": f"{memory.available / 2**30:.1f} GiB free of {memory.total / 2**30:.1f}",
        "blas": blas(),
        "compiled code": cache_folder(),
    }


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def blas() -> str:
    """The libraries that do the linear algebra, each once, and their threads."""
    import scipy.linalg  # noqa: F401  # loads the BLAS that it calls
    from threadpoolctl import threadpool_info

    found = {
        f"{one['internal_api']} {one['version'] or '?'} ({one['num_threads']} threads)"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "not known"


def cache_folder() -> str:
    """Where the compiler keeps its work; without a place for it every command would compile anew."""
    from sparselaw.compiled import njit

    kept: Any = njit()(_nothing)
    return str(getattr(kept._cache, "cache_path", "not kept: no folder can be written"))


def extras() -> tuple[Extra, ...]:
    """The optional groups of this distribution, with what each still needs."""
    from packaging.requirements import Requirement

    wanted: dict[str, set[str]] = {}
    for line in metadata.requires("sparselaw") or ():
        need = Requirement(line)
        for name in metadata.metadata("sparselaw").get_all("Provides-Extra") or ():
            if (
                need.marker
                and need.marker.evaluate({"extra": name})
                and not need.marker.evaluate({"extra": ""})
            ):
                wanted.setdefault(name, set()).add(need.name)
    return tuple(
        Extra(name=name, missing=tuple(sorted(package for package in packages if not _is_there(package))))
        for name, packages in wanted.items()
        if name != "dev"
    )


def _is_there(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return find_spec(package.replace("-", "_")) is not None
    return True


def _nothing() -> None:
    """What is compiled to ask where it would be kept."""
