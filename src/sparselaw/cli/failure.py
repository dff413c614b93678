"""`sparselaw failure`: the probability that gradient descent with a fixed step diverges."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import numbers, options
from sparselaw.cli.output import note, number, print_json, print_table

if TYPE_CHECKING:
    from sparselaw.failure.isometry import IsometryPoint
    from sparselaw.failure.record import FailurePoint
    from sparselaw.inputs import SparseInputs


def failure(
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    D: str = typer.Option(..., "-D", help="Numbers of samples: 100,1000 or start:stop:count."),
    threshold: str = typer.Option(
        ..., "--threshold", help="2 / step size: fails when lambda_max(X X^T / D) is larger."
    ),
    N: str | None = typer.Option(
        None, "-N", help="Also the full model with N features, data set by data set."
    ),
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
    from sparselaw.failure.isometry import near_isometry
    from sparselaw.failure.probability import failure_points
    from sparselaw.inputs import SparseInputs

    model = SparseInputs(
        alpha1=numbers.real("alpha1", alpha1),
        alpha2=numbers.real("alpha2", alpha2),
        dimension=numbers.dimension(dimension),  # type: ignore[arg-type]
    )
    sizes, widths = numbers.sizes("D", D), numbers.sizes("N", N) if N is not None else []
    limit, start = numbers.real("threshold", threshold), numbers.whole("seed", seed)
    points: list[FailurePoint] = []
    full: list[IsometryPoint] = []
    meter = _Meter()
    stream = failure_points(
        model,
        sizes,
        limit,
        method=method,
        relative_error=numbers.real("relative-error", relative_error),
        failures=numbers.size("failures", failures) if failures is not None else None,
        replicates=numbers.size("replicates", replicates),
        seed=start,
        progress=meter.show,
    )
    try:
        points.extend(stream)
        for size in sizes:
            full += [near_isometry(model, width, size, limit, seed=start) for width in widths]
    except KeyboardInterrupt:
        note("interrupted: the points finished so far follow")
        _print(model, limit, start, points, full, json)
        raise
    finally:
        meter.clear()
    _print(model, limit, start, points, full, json)


class _Meter:
    """A line on standard error once the work has taken two seconds; silent where that is not a terminal."""

    def __init__(self) -> None:
        self.started = self.shown = time.monotonic()
        self.seen = sys.stderr.isatty()

    def show(self, D: int, method: str, done: int, failed: int) -> None:
        now = time.monotonic()
        if self.seen and now - self.started > 2.0 and now - self.shown > 1.0:
            self.shown = now
            line = f"D={D}: {method} sampling, {done} data sets, {failed} failures"
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self.seen and self.shown > self.started:
            sys.stderr.write("\r\x1b[2K")


def _print(
    model: SparseInputs,
    threshold: float,
    seed: int,
    points: list[FailurePoint],
    full: list[IsometryPoint],
    as_json: bool,
) -> None:
    from sparselaw.failure.local_exponents import fitted_exponent, local_exponents

    for p in points:
        if p.status != "ok":
            note(f"D={p.D}: {p.status}: {p.reason}")
    local, fitted, nu = local_exponents(points), fitted_exponent(points), model.exponents.nu
    if not as_json:
        rows = [[str(p.D), str(p.probability), number(p.spike), str(p.bulk), p.method] for p in points]
        print_table(f"P(lambda_max > {threshold:g})", ["D", "probability", "spike", "bulk", "method"], rows)
        for e in local:
            print(f"  local exponent {e.D_low} to {e.D_high}: {e.exponent or 'unknown, no failure seen'}")
        print(f"  nu = {number(nu)}" + ("" if nu is not None else " (no spike: alpha2 >= -1)"))
        for q in full:
            print(f"  N={q.N}, D={q.D}: full model {q.full}, data alone {q.data}; lambda_max ratio {q.ratio}")
        return
    result: dict[str, Any] = {
        "alpha1": model.alpha1,
        "alpha2": model.alpha2,
        **_value("dimension", model.dimension, "infinitely many coordinates"),
        "threshold": threshold,
        "seed": seed,
        **_value("nu", nu, "no spike: amplitudes grow with j only where alpha2 < -1"),
        "points": [_point(p) for p in points],
        "local_exponents": [
            {
                "D_low": e.D_low,
                "D_high": e.D_high,
                **_interval("exponent", e.exponent, "a probability may be zero: no failure was seen"),
            }
            for e in local
        ],
        **_interval("fitted_exponent", fitted, "fewer than two D with an interval away from zero"),
    }
    if full:
        result["full_model"] = [
            {
                "N": q.N, "D": q.D, "full": q.full.as_dict(), "data": q.data.as_dict(),
                "ratio": q.ratio.as_dict(), "seen": q.seen, "replicates": q.replicates,
            }
            for q in full
        ]  # fmt: skip
    print_json(result)


def _point(p: FailurePoint) -> dict[str, Any]:
    return {
        "D": p.D,
        "probability": p.probability.as_dict(),
        "spike": p.spike,
        "bulk": p.bulk.as_dict(),
        "method": p.method,
        **_value("spike_index", p.spike_index, "no activation is enough alone"),
        "replicates": p.replicates,
        "failures": p.failures,
        "status": p.status,
        **({"status_reason": p.reason} if p.reason else {}),
    }


def _value(key: str, value: float | None, why: str) -> dict[str, Any]:
    if value is None or value == float("inf"):
        return {key: None, f"{key}_reason": why}
    return {key: value}


def _interval(key: str, interval: Any, why: str) -> dict[str, Any]:
    return {key: interval.as_dict()} if interval is not None else {key: None, f"{key}_reason": why}
