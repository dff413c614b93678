"""Parts that a script defines itself, and parts of a module: both go through a sweep that wants workers."""

import subprocess
import sys

ALWAYS_WORKERS = "import sparselaw.sweeps.sweep as loop\nloop._WORTH_WORKERS = 0.0\n"
SCRIPT = """
import numpy as np
import sparselaw as sl
from sparselaw.features import FeatureMap, register

class Square(FeatureMap):
    name = "square"
    odd_slope = 0.0

    def apply(self, z):
        return z * z

register(Square())
inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
runs = sl.simulate(inputs, N=8, D=60, features="square", seeds=4, workers=2)
print(sorted(set(runs["status"])), np.isfinite(runs["loss"]).all())
"""


def run_in(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300
    )


def test_in_the_script_itself(tmp_path):
    """Without a guard around its last lines: nothing may run it twice."""
    (tmp_path / "script.py").write_text(ALWAYS_WORKERS + SCRIPT)
    done = run_in(tmp_path, "script.py")
    assert done.stdout == "['ok'] True\n", done.stderr
    assert "one process runs all" in done.stderr


def test_in_a_module(tmp_path):
    head, tail = SCRIPT.split("register(Square())\n")
    (tmp_path / "mine.py").write_text(head + "register(Square())\n")
    tail = tail.replace("workers=2", "workers=1")  # one other process is another process
    start = "import mine, numpy as np, sparselaw as sl\n" + ALWAYS_WORKERS
    (tmp_path / "script.py").write_text(start + tail)
    done = run_in(tmp_path, "script.py")
    assert done.stdout == "['ok'] True\n", done.stderr
    assert "one process" not in done.stderr
