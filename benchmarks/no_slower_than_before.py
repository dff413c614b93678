"""Claims: what was there before is no slower now; commands that do little start in less processor time.

    python benchmarks/no_slower_than_before.py OLD [WORD] | python docs/quote_results.py --keep no-slower

OLD is a checkout of an earlier commit; with a word only what has it in its name. Both trees take turns in one
run; a time is the processor's, the least of several; a ratio is now over before: below 1 is faster.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
MODEL = "sl.SparseInputs(alpha1=1.0, alpha2=0.3)"
TABLE = """
import numpy as np, pandas as pd
N, D = (x.ravel() for x in np.meshgrid(np.geomspace(1e6, 1e9, 8), np.geomspace(1e8, 1e11, 8)))
noise = 1.0 + 0.01 * np.random.default_rng(0).normal(size=N.size)
table = pd.DataFrame({"N": N, "D": D, "loss": (1.7 + 400.0 * N**-0.34 + 410.0 * D**-0.28) * noise})
"""
WORK = {  # what is prepared, what is timed after a first go
    "20 trials, sparse linear, N = 256, D = 50,000": (
        "",
        f"sl.simulate({MODEL}, N=256, D=50_000, seeds=20, workers=1)",
    ),
    "20 trials, sparse linear, N = 4,000, D = 1,280": (
        "",
        f"sl.simulate({MODEL}, N=4_000, D=1_280, seeds=20, workers=1)",
    ),
    "3 trials, dense linear, N = 256, D = 5,000": (
        "",
        "sl.simulate(sl.DenseInputs(alpha=1.3, dimension=5_000), N=256, D=5_000, seeds=3, workers=1)",
    ),
    "5 trials, sparse ReLU, N = 200, D = 1,280": (
        "",
        f"sl.simulate({MODEL}, N=200, D=1_280, seeds=5, features='relu', workers=1)",
    ),
    "a fit with 200 draws, 64 runs": (TABLE, "sl.fit(table, bootstrap=200)"),
    "20,000 data sets of the failure probability, D = 100": (
        "",
        f"sl.failure_probability({MODEL}, D=100, threshold=1.5, method='direct', "
        "failures=10**9, replicates=20_000)",
    ),
}
TIMED = """
import time
import sparselaw as sl
{prepare}
{work}
times = []
for _ in range(5):
    start = time.process_time()
    {work}
    times.append(time.process_time() - start)
print(min(times))
"""
POINT = ["--alpha1", "1", "--alpha2", "0.3", "-N", "16", "-D", "100"]
COMMANDS = {
    "`fit --bootstrap 0`, 64 runs, the whole command": [
        "fit",
        "{folder}/runs.csv",
        "--bootstrap",
        "0",
        "--json",
    ],
    "`simulate`, two trials, the whole command": [
        "simulate",
        *POINT,
        "--seeds",
        "2",
        "--workers",
        "1",
        "--store",
        "{store}",
        "--json",
    ],
    "`--help`, the whole command": ["--help"],
}
WORK_TURNS, COMMAND_TURNS = 4, 7


def environment(tree: Path) -> dict[str, str]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **one, "PYTHONPATH": str(tree / "src")}


def of_work(tree: Path, prepare: str, work: str) -> float:
    code = TIMED.format(prepare=prepare, work=work)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tree), capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def of_command(tree: Path, words: list[str]) -> float:
    """User and system time of the whole process, imports and all."""
    before = os.times()
    command = [sys.executable, "-m", "sparselaw", *words]
    subprocess.run(command, env=environment(tree), capture_output=True, check=True)
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return float(spent)


def show(name: str, times: dict[Path, list[float]], old: Path) -> None:
    before, now = min(times[old]), min(times[HERE])
    print(f"{name}: before {before:.3f} s, now {now:.3f} s", file=sys.stderr)
    print(f"| {name} | {now / before:.2f} |", flush=True)


def main(old: Path, word: str) -> None:
    trees = [old, HERE]
    print("| what | ratio |\n|---|---|")
    for name, (prepare, work) in WORK.items():
        if word not in name:
            continue
        times = {tree: [] for tree in trees}
        for _ in range(WORK_TURNS):
            for tree in trees:
                times[tree].append(of_work(tree, prepare, work))
        show(name, times, old)
    with tempfile.TemporaryDirectory() as folder:
        exec(TABLE, namespace := {})
        namespace["table"].to_csv(Path(folder) / "runs.csv", index=False)
        for name, words in COMMANDS.items():
            if word not in name:
                continue
            times = {tree: [] for tree in trees}
            for turn in range(COMMAND_TURNS):
                for number, tree in enumerate(trees):
                    store = f"{folder}/{turn}-{number}.sqlite"
                    given = [word.format(folder=folder, store=store) for word in words]
                    times[tree].append(of_command(tree, given))
            show(name, times, old)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "")
