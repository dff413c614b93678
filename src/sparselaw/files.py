"""Files written whole: what is at a path is the old content or the new, never half of either."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """An open file, beside ``path``, that takes its place when the block ends well and is deleted otherwise.

    A link stays a link, and an existing file keeps its permissions. A device or a pipe is written to as it
    is: it cannot be replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with write_atomically(Path(folder, "answer.txt")) as file:
    ...         _ = file.write(b"42")
    ...     Path(folder, "answer.txt").read_text(), len(list(Path(folder).iterdir()))
    ('42', 1)
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            yield file
        os.chmod(name, target.stat().st_mode if target.exists() else 0o666 & ~umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def umask() -> int:
    """The permissions that new files do not get; the system tells only while it is changed."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
