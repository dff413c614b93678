"""The command `sparselaw`, with the commands that sweeps need."""

from __future__ import annotations

from sparselaw.cli import app as shell
from sparselaw.cli.runs import runs
from sparselaw.cli.simulate import simulate

main = shell.main

if "runs" not in {group.name for group in shell.app.registered_groups}:
    shell.app.add_typer(runs, name="runs")
if simulate not in {command.callback for command in shell.app.registered_commands}:
    shell.app.command()(simulate)

if __name__ == "__main__":
    main()
