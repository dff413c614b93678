"""`sparselaw failure`: the probability that gradient descent with a fixed step diverges."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import typer

from sparselaw.cli import options
from sparselaw.cli.options import further, names_in, real, size, sizes, whole, word
from sparselaw.cli.output import Stopped, note, number, print_json, print_table, tell

if TYPE_CHECKING:
    from sparselaw.failure.failure_curve import FailureCurve, Sampled
    from sparselaw.progress import Show


def failure(
    context: typer.Context,
    alpha1: str | None = options.ALPHA1,
    alpha2: str | None = options.ALPHA2,
    D: list[int] = options.SAMPLES,
    threshold: float = real(..., "2 / step size: fails when lambda_max(X X^T / D) is larger."),
    N: list[int] | None = sizes(None, "Also the full model with so many features.", "-N", "--N"),
    inputs: str = word(
        "sparse", "Inputs with rare activations.", "sparse", offered=names_in("inputs", "KINDS")
    ),
    dimension: str | None = options.DIMENSION,
    method: str = word(
        "auto",
        "How to estimate; auto looks at a few data sets and chooses.",
        *("auto", "direct", "importance", "exact-spike"),
        offered=names_in("failure.failure_curve", "METHODS"),
    ),
    relative_error: float = real("0.1", "Stop at this relative standard error."),
    failures: int | None = size(None, "Stop at this many (effective) failures instead."),
    replicates: int = size("200000", "Draw at most this many data sets for one D."),
    seed: int = whole("0", "Seed of every draw."),
    json: bool = options.JSON,
) -> None:
    """Probability that gradient descent diverges: spike and bulk."""
    from sparselaw.failure.failure_curve import Sampling
    from sparselaw.failure.probability import announcements, growing_curve
    from sparselaw.progress import progress

    described = options.read_inputs(alpha1, alpha2, inputs, dimension, further=further(context))
    sampling = Sampling(
        method=method, relative_error=relative_error, failures=failures, replicates=replicates, seed=seed
    )
    with ExitStack() as bars:
        shown: dict[int, Show] = {}  # a bar for each D

        def move(now: Sampled) -> None:
            if now.D not in shown:
                bars.close()
                shown[now.D] = bars.enter_context(progress(f"D={now.D}"))
            text = f"{now.method}: {now.done} data sets, {now.failures:.0f} failures"
            shown[now.D](now.done, now.total, text)

        curves = growing_curve(described, D, threshold, sampling, N=N or [], progress=move)
        curve = next(curves)
        for line in announcements(described, D, threshold, sampling):
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


def _print(curve: FailureCurve, as_json: bool) -> None:
    from sparselaw.failure.failure_curve import COLUMNS
    from sparselaw.inputs.base import no_spike

    tell(curve)
    if as_json:
        print_json(curve.as_dict())
        return
    print_table(f"P(lambda_max > {curve.threshold:g})", COLUMNS, curve.rows())
    for e in curve.local_exponents:
        print(f"  local exponent {e.D_low} to {e.D_high}: {e.exponent or 'unknown, no failure seen'}")
    why = "" if curve.nu is not None else f" ({no_spike(curve.inputs.exponents)})"
    print(f"  nu = {number(curve.nu)}{why}")
    for q in curve.full_model:
        print(f"  N={q.N}, D={q.D}: full model {q.full}, data alone {q.data}; lambda_max ratio {q.ratio}")
