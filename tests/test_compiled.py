"""The compiler's cache: beside the source, in the user's folder, among the temporary files, or nowhere."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import sparselaw

# Root may write anywhere, until it gives up its privileges.
CHILD = """
import ctypes, os, sys
if hasattr(os, "geteuid") and os.geteuid() == 0:
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version, none) == 0
sys.path.insert(0, sys.argv[1])
import numpy as np
from sparselaw.experiments.networks.train import _cut as cut
row = np.array([-1.0, 2.0])
cut(row)
assert row.tolist() == [0.0, 2.0]
print(cut._cache.cache_path if cut._cache.__class__.__name__ != "NullCache" else "none")
"""


@pytest.fixture
def container(tmp_path):
    """A package and a home that cannot be written, and a folder for temporary files that can."""
    folder = tmp_path
    source = Path(sparselaw.__file__).parent
    shutil.copytree(source, folder / "sparselaw", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    closed = [folder / "home", *(path for path in (folder / "sparselaw").rglob("*") if path.is_dir())]
    for path in [folder / "sparselaw", *closed]:
        path.chmod(0o555)
    yield folder
    for path in [folder / "sparselaw", *closed]:
        path.chmod(0o755)


def run(folder, **environment):
    home = str(folder / "home")
    return subprocess.run(
        [sys.executable, "-B", "-c", CHILD, str(folder)],
        env={"PATH": os.environ["PATH"], "HOME": home, "XDG_CACHE_HOME": home, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.skipif(os.name == "nt", reason="folders are closed otherwise there")
def test_nowhere_to_write_but_temporary_files(container):
    done = run(container, TMPDIR=str(container / "tmp"))
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(container / "tmp")
    kept = list((container / "tmp").rglob("*.nbi"))
    assert kept
    (mine,) = (container / "tmp").iterdir()
    assert mine.stat().st_mode & 0o077 == 0  # others could put code there


@pytest.mark.skipif(os.name == "nt", reason="folders are closed otherwise there")
def test_nowhere_to_write_at_all(container, monkeypatch):
    child = "import tempfile\ntempfile._candidate_tempdir_list = lambda: []\n" + CHILD
    monkeypatch.setitem(globals(), "CHILD", child)
    done = run(container)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "none"


def test_a_folder_that_others_may_write_is_not_used(tmp_path, monkeypatch):
    from sparselaw import compiled

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = compiled._temporary_folder()
    assert first == compiled._temporary_folder()
    os.chmod(first, 0o777)
    assert compiled._temporary_folder() != first or os.name == "nt"
