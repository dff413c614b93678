"""How long points, lists and plans of the theory take beside an earlier checkout, in one run.

    python benchmarks/theory_speed.py --base DIR

DIR is a checkout of an earlier commit. Both trees take turns in one run. A time is the processor's, in
milliseconds, nothing being known of the inputs before; the least of several, each with inputs that hardly
differ from the last. A ratio is now over before: below 1 is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
SETTINGS = ((1.0, 0.3), (0.4, 0.5), (2.0, 0.3))
WORK = {
    "a point, sharp": "sl.predict(inputs, N=64, D=50_000)",
    "a point, leading": "sl.predict(inputs, N=64, D=50_000, surface='leading')",
    "60 N, sharp": "curve(inputs, N=many_N, D=50_000.0)",
    "60 N, leading": "curve(inputs, N=many_N, D=50_000.0, surface='leading')",
    "60 D, sharp": "curve(inputs, N=100.0, D=many_D)",
    "60 D, leading": "curve(inputs, N=100.0, D=many_D, surface='leading')",
    "plan, sharp": "sl.plan(inputs, budget=1e9)",
    "plan, leading": "sl.plan(inputs, budget=1e9, surface='leading')",
}
TIMED = """
import json, sys, time
import numpy as np
import sparselaw as sl
try:
    from sparselaw.theory.surface import curve
except ImportError:  # before it was imported from the file that has it
    from sparselaw.theory import curve
many_N, many_D = np.geomspace(4.0, 4_000.0, 60), np.geomspace(100.0, 1e7, 60)
work, settings, repeats = json.loads(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
sl.plan(sl.SparseInputs(alpha1=1.1, alpha2=0.2), budget=1e6)
curve(sl.SparseInputs(alpha1=1.1, alpha2=0.2), N=[4.0, 8.0], D=100.0)
found = {}
for name, code in work.items():
    run = compile(code, name, "eval")
    for alpha1, alpha2 in settings:
        times = []
        for i in range(repeats):
            inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2 + 1e-7 * (i + 1))
            start = time.process_time()
            eval(run)
            times.append(1e3 * (time.process_time() - start))
        found[f"{name}, {alpha1:g}, {alpha2:g}"] = min(times)
print(json.dumps(found))
"""


def times(tree: Path, work: dict[str, str], repeats: int) -> dict[str, float]:
    """Milliseconds of every work at every setting, by the code of one tree."""
    command = [sys.executable, "-c", TIMED, json.dumps(work), json.dumps(SETTINGS), str(repeats)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    settings = os.environ | threads | {"PYTHONPATH": str(tree / "src")}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    return {name: float(value) for name, value in json.loads(done.stdout).items()}


def main() -> None:
    """Print one row a work and setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--base", type=Path, required=True, help="a checkout of an earlier commit")
    parser.add_argument("--only", default="", help="only work with this word in its name")
    parser.add_argument("--repeats", type=int, default=3, help="of which the least time counts")
    given = parser.parse_args()
    print("| what | (alpha1, alpha2) | now, ms | before, ms | ratio |")
    print("|---|---|---|---|---|")
    for name, code in WORK.items():
        if given.only not in name:
            continue
        now, before = (times(tree, {name: code}, given.repeats) for tree in (HERE, given.base.resolve()))
        for row, value in now.items():
            what, alpha1, alpha2 = row.rsplit(", ", 2)
            ratio = value / before[row]
            print(f"| {what} | ({alpha1}, {alpha2}) | {value:.0f} | {before[row]:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
