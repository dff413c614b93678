"""`sparselaw failure`: the probability that gradient descent with a fixed step diverges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sparselaw.cli import numbers, options
from sparselaw.cli.output import note, number, print_json, print_table

if TYPE_CHECKING:
    from sparselaw.failure.curve import FailureCurve
    from sparselaw.failure.isometry import IsometryPoint
    from sparselaw.failure.point import FailurePoint
    from sparselaw.failure.sampling import Sampled


def failure(
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    D: str = options.SAMPLES,
    threshold: str = typer.Option(
        ..., "--threshold", help="2 / step size: fails when lambda_max(X X^T / D) is larger."
    ),
    N: str | None = typer.Option(
        None,
        "-N",
        "--N",
        metavar=options.SIZES,
        help="Also the full model with N features, data set by data set.",
    ),
    inputs: str = typer.Option("sparse", help="Inputs with rare activations: sparse."),
    dimension: str = options.DIMENSION,
    method: str = typer.Option("auto", "--method", help="auto, direct, importance or exact-spike."),
    relative_error: str = typer.Option(
        "0.1", "--relative-error", help="Stop at this relative standard error."
    ),
    failures: str | None = typer.Option(
        None, "--failures", help="Stop at this many (effective) failures instead."
    ),
    replicates: str = typer.Option(
        "200000", "--replicates", help="Draw at most this many data sets for one D."
    ),
    seed: str = typer.Option("0", "--seed", help="Seed of every draw."),
    json: bool = options.JSON,
) -> None:
    """Probability that gradient descent diverges, split into spike and bulk."""
    from sparselaw.failure.curve import FailureCurve
    from sparselaw.failure.isometry import near_isometry
    from sparselaw.failure.probability import failure_points
    from sparselaw.failure.sampling import Sampling
    from sparselaw.progress import progress

    described = options.read_inputs(alpha1, alpha2, inputs, dimension)
    sizes, widths = numbers.sizes("D", D), numbers.sizes("N", N) if N is not None else []
    limit = numbers.real("threshold", threshold)
    sampling = Sampling(
        method=method,
        relative_error=numbers.real("relative-error", relative_error),
        failures=numbers.size("failures", failures) if failures is not None else None,
        replicates=numbers.size("replicates", replicates),
        seed=numbers.whole("seed", seed),
    )
    points: list[FailurePoint] = []
    full: list[IsometryPoint] = []
    pairs = [(width, size) for size in sizes for width in widths]

    def finish() -> None:
        curve = FailureCurve(
            inputs=described,
            threshold=limit,
            seed=sampling.seed,
            points=tuple(points),
            full_model=tuple(full),
        )
        _print(curve, json)

    try:
        with progress("failure") as show:

            def report(at: Sampled) -> None:
                show(at.done, text=f"D={at.D}: {at.method} sampling, {at.done} data sets")

            points.extend(failure_points(described, sizes, limit, sampling, report))
            full.extend(near_isometry(described, *pair, limit, seed=sampling.seed) for pair in pairs)
    except KeyboardInterrupt:
        note("interrupted: the points finished so far follow")
        finish()
        raise
    finish()


def _print(curve: FailureCurve, as_json: bool) -> None:
    from sparselaw.failure.curve import COLUMNS

    for warning in curve.warnings:
        note(warning)
    if as_json:
        print_json(curve.as_dict())
        return
    print_table(f"P(lambda_max > {curve.threshold:g})", COLUMNS, curve.rows())
    for e in curve.local_exponents:
        print(f"  local exponent {e.D_low} to {e.D_high}: {e.exponent or 'unknown, no failure seen'}")
    print(f"  nu = {number(curve.nu)}" + ("" if curve.nu is not None else " (no spike: alpha2 >= -1)"))
    for q in curve.full_model:
        print(f"  N={q.N}, D={q.D}: full model {q.full}, data alone {q.data}; lambda_max ratio {q.ratio}")
