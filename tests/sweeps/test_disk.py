"""Disks that cannot be written or are full. They are mounted in a namespace of their own, where allowed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparselaw.sweeps.store import open_store
from sweeps import functions

TESTS = Path(__file__).parents[1]


def in_namespace(script, *arguments):
    """Run a shell script that may mount; skip the test where the system does not let us."""
    allowed = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True)
    if allowed.returncode:
        pytest.skip("mounting is not allowed here")
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}:{TESTS}"}
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux namespaces")
SWEEP = f"{sys.executable} -m sweeps.command"

READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'


def complaint(result):
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("sparselaw: error: store=")
    return line


def test_full_disk(tmp_path):
    """The disk fills up half-way: a clear line, and what was committed is whole and goes on elsewhere."""
    script = f"""
        mount -t tmpfs -o size=160k tmpfs "$1" && {SWEEP} "$1/s.sqlite" "$2/out.csv" plain 600 1
        code=$?; cp "$1"/s.sqlite* "$2"; exit $code
    """
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    disk.mkdir()
    copy.mkdir()
    assert "the disk is full; free some space" in complaint(in_namespace(script, disk, copy))
    tasks = functions.study(cells=600)
    with open_store(copy / "s.sqlite") as store:
        kept = store.find([task.id for task in tasks])
    assert 0 < len(kept) < len(tasks)
    assert all(kept[task.id] == functions.plain(task) for task in tasks if task.id in kept)
    assert not (copy / "out.csv").exists()


@pytest.mark.parametrize("size", ["4k", "24k", "40k"])
def test_disk_too_small_for_an_empty_store(tmp_path, size):
    script = f"""
        mount -t tmpfs -o size={size} tmpfs "$1" && {SWEEP} "$1/s.sqlite" "$1/out.csv" plain 20 1
        code=$?; ls -A "$1" | grep -v '^s.sqlite' ; exit $code
    """
    result = in_namespace(script, tmp_path)
    complaint(result)
    assert result.stdout == ""  # no half-made file is left


@pytest.mark.parametrize("exists", [True, False])
def test_read_only_folder(tmp_path, exists):
    path = tmp_path / "s.sqlite"
    if exists:
        with open_store(path) as store:
            store.add([(functions.study()[0], functions.plain(functions.study()[0]), 0.1)])
    before = path.read_bytes() if exists else None
    script = f'{READ_ONLY} && {SWEEP} "$1/s.sqlite" /dev/null plain 20 1'
    assert "that you can write to" in complaint(in_namespace(script, tmp_path))
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_store_in_a_read_only_folder_can_be_read(tmp_path):
    with open_store(tmp_path / "s.sqlite") as store:
        store.add((task, functions.plain(task), 0.1) for task in functions.study())
    read = "from sparselaw.sweeps.store import open_store; import sys; "
    read += "print(open_store(sys.argv[1], read_only=True).studies()[0].runs)"
    script = f"""{READ_ONLY} && {sys.executable} -c '{read}' "$1/s.sqlite" """
    result = in_namespace(script, tmp_path)
    assert result.stdout.strip() == "60", result.stderr
