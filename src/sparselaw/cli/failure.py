"""`sparselaw failure`: the probability that gradient descent with a fixed step diverges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import typer

from sparselaw import numbers
from sparselaw.cli import options
from sparselaw.cli.options import further
from sparselaw.cli.output import Stopped, note, number, print_json, print_table

if TYPE_CHECKING:
    from sparselaw.failure.failure_curve import FailureCurve, Sampled
    from sparselaw.progress import Show


def failure(
    context: typer.Context,
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    D: str = options.SAMPLES,
    threshold: str = typer.Option(
        ..., metavar=options.FLOAT, help="2 / step size: fails when lambda_max(X X^T / D) is larger."
    ),
    N: str | None = typer.Option(
        None, "-N", "--N", metavar=options.SIZES, help="Also the full model with so many features."
    ),
    inputs: str = typer.Option(
        "sparse",
        metavar="sparse",
        autocompletion=options.names_in("inputs", "KINDS"),
        help="Inputs with rare activations.",
    ),
    dimension: str = options.DIMENSION,
    method: str = typer.Option(
        "auto",
        metavar="auto|direct|importance|exact-spike",
        autocompletion=options.names_in("failure.failure_curve", "METHODS"),
        help="How to estimate; auto looks at a few data sets and chooses.",
    ),
    relative_error: str = typer.Option(
        "0.1", metavar=options.FLOAT, help="Stop at this relative standard error."
    ),
    failures: str | None = typer.Option(
        None, metavar=options.INTEGER, help="Stop at this many (effective) failures instead."
    ),
    replicates: str = typer.Option(
        "200000", metavar=options.INTEGER, help="Draw at most this many data sets for one D."
    ),
    seed: str = typer.Option("0", metavar=options.INTEGER, help="Seed of every draw."),
    json: bool = options.JSON,
) -> None:
    """Probability that gradient descent diverges: spike and bulk."""
    from sparselaw.failure.failure_curve import Sampling
    from sparselaw.failure.probability import announcements, growing_curve

    described = options.read_inputs(alpha1, alpha2, inputs, dimension, further=further(context))
    sizes, widths = numbers.sizes("D", D), numbers.sizes("N", N) if N is not None else []
    limit = numbers.real("threshold", threshold)
    sampling = Sampling(
        method=method,
        relative_error=numbers.real("relative-error", relative_error),
        failures=numbers.size("failures", failures) if failures is not None else None,
        replicates=numbers.size("replicates", replicates),
        seed=numbers.whole("seed", seed),
    )
    with ExitStack() as bars:
        curves = growing_curve(described, sizes, limit, sampling, N=widths, progress=_bar_for_each(bars))
        curve = next(curves)
        for line in announcements(described, sizes, limit, sampling):
            note(line)
        try:
            for curve in curves:  # noqa: B007  # the last one is wanted, also where Ctrl-C ends it
                pass
        except KeyboardInterrupt:
            bars.close()
            note("interrupted: the points finished so far follow")
            _print(curve, json)
            raise Stopped from None
    _print(curve, json)


def _bar_for_each(bars: ExitStack) -> Callable[[Sampled], None]:
    """A bar for each D, moved by what the samplers say."""
    from sparselaw.progress import progress

    shown: dict[int, Show] = {}

    def told(now: Sampled) -> None:
        if now.D not in shown:
            bars.close()
            shown[now.D] = bars.enter_context(progress(f"D={now.D}"))
        text = f"{now.method}: {now.done} data sets, {now.failures:.0f} failures"
        shown[now.D](now.done, now.total, text)

    return told


def _print(curve: FailureCurve, as_json: bool) -> None:
    from sparselaw.failure.failure_curve import COLUMNS
    from sparselaw.inputs.base import no_spike

    for warning in curve.warnings:
        note(warning)
    if as_json:
        print_json(curve.as_dict())
        return
    print_table(f"P(lambda_max > {curve.threshold:g})", COLUMNS, curve.rows())
    for e in curve.local_exponents:
        print(f"  local exponent {e.D_low} to {e.D_high}: {e.exponent or 'unknown, no failure seen'}")
    print(
        f"  nu = {number(curve.nu)}"
        + ("" if curve.nu is not None else f" ({no_spike(curve.inputs.exponents)})")
    )
    for q in curve.full_model:
        print(f"  N={q.N}, D={q.D}: full model {q.full}, data alone {q.data}; lambda_max ratio {q.ratio}")
