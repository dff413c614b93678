"""Files written whole."""

from __future__ import annotations

import os
import stat

import pytest

from sparselaw.files import write_atomically


def test_the_old_content_stays_until_the_new_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with write_atomically(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("existed", [True, False])
def test_nothing_happens_when_writing_fails(tmp_path, existed):
    path = tmp_path / "a"
    if existed:
        path.write_text("old")
    with pytest.raises(TypeError), write_atomically(path) as file:
        file.write(b"half" + "text")
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"] * existed


def test_permissions_and_links_are_kept(tmp_path):
    path, link, fresh = tmp_path / "a", tmp_path / "link", tmp_path / "fresh"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    before = os.umask(0o027)
    try:
        for target in (link, fresh):
            with write_atomically(target) as file:
                file.write(b"new")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    with write_atomically("/dev/null") as file:
        file.write(b"x")
    assert not os.path.isfile("/dev/null")
