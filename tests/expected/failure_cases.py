"""The probability that gradient descent diverges, by each method and by the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from case_list import SPARSE, add, spread

import sparselaw as sl


def failures(model: Any, D: list[int], threshold: float, **settings: Any) -> dict[str, Any]:
    points = sl.failure_probability(model, D=D, threshold=threshold, **settings)
    values: dict[str, Any] = {
        name: [spread(getattr(p, name)) for p in points] for name in ("probability", "bulk")
    }
    for name in ("spike", "spike_index", "failures"):
        values[name] = [float(getattr(p, name)) for p in points]
    for name in ("method", "status", "replicates"):
        values[name] = [getattr(p, name) for p in points]
    return values


SPIKY = sl.SparseInputs(alpha1=1.5, alpha2=-2.0)
BULKY = sl.SparseInputs(alpha1=2.0, alpha2=-1.2, dimension=200)
few = {"failures": 50, "replicates": 3000}
for name, model, sizes, threshold in (
    ("spiky", SPIKY, [20, 100], 2.0),
    ("bulky", BULKY, [20, 40], 1.05),
    ("calm", SPARSE, [20], 1.1),
):
    add(f"failure {name} direct", failures, model, sizes, threshold, method="direct", **few)
    add(f"failure {name} importance", failures, model, sizes[:1], threshold, method="importance", **few)
    add(f"failure {name} exact-spike", failures, model, sizes, threshold, method="exact-spike")
    add(f"failure {name} auto", failures, model, sizes[:1], threshold, seed=4, **few)
add("failure always", failures, SPIKY, [1, 5], 0.9)
add("failure one sample", failures, SPIKY, [1], 1.0)
add("failure too large to draw", failures, SPIKY, [10**10], 2.0)
add("failure few effective", failures, BULKY, [100], 1.05, method="importance", failures=50, replicates=30)
add("failure rare", failures, BULKY, [100], 1.05, method="importance", failures=50, replicates=2000)


def command(*words: str) -> dict[str, Any]:
    """What the command prints as JSON; the functions behind it need not be public."""
    alone = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", "sparselaw", *words, "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=os.environ | alone)
    return {k: v for k, v in json.loads(done.stdout).items() if not k.endswith(("reason", "warnings"))}


add(
    "command failure with the full model",
    command,
    *("failure", "--alpha1", "1.5", "--alpha2", "-2", "-D", "20,40", "--threshold", "2", "-N", "5,100"),
    *("--failures", "20", "--replicates", "1000"),
)
