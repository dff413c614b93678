"""`sparselaw doctor`: is this installation sound?"""

from __future__ import annotations

import typer

from sparselaw.cli.options import JSON
from sparselaw.cli.output import print_json, print_table


def doctor(json: bool = JSON) -> None:
    """Versions, cores, BLAS, extras, and a short self-test.

    The self-test compares with stored values.
    """
    from sparselaw.doctor import COLUMNS, examine
    from sparselaw.progress import progress

    with progress("self-test") as show:
        health = examine(show)
    if json:
        print_json(health.as_dict())
    else:
        print_table("sparselaw doctor", COLUMNS, health.rows())
        print(f"  status: {health.status}")
    if health.status != "ok":
        raise typer.Exit(1)
