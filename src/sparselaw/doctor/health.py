"""The whole examination as one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparselaw.doctor.machine import Extra, extras, system, versions
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
