"""Files that a person dropped on the page: in a temporary folder that goes away, found by a random key."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from sparselaw.errors import InputError

MOST_KEPT = 8
PREFIX, LOCK = "sparselaw-explore-", ".in-use"
OLD = 86_400.0  # seconds after which a folder without a lock is nobody's
TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".xlsx", ".gz")
MATRICES = (
    ".npz", ".npy", ".mtx", ".svm", ".svmlight", ".libsvm", ".dat", ".basket", ".safetensors", ".h5ad", ".md",
    ".rst", ".text", ".py",
)  # fmt: skip
ENDINGS = TABLES + MATRICES


class Uploads:
    """The last few files. Their names on disk are ours; of the person's name only a known ending is kept."""

    def __init__(self) -> None:
        clear_left_behind()
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self._lock = open(Path(self._folder.name, LOCK), "wb")  # noqa: SIM115
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # the system lets go of it however we end
        self._files: OrderedDict[str, Path] = OrderedDict()

    def keep(self, name: str, content: bytes) -> str:
        """Write the content to the temporary folder; the key that finds it again."""
        key = secrets.token_urlsafe(16)
        path = Path(self._folder.name) / f"{key}{_ending(name)}"
        path.write_bytes(content)
        self._files[key] = path
        while len(self._files) > MOST_KEPT:
            _, oldest = self._files.popitem(last=False)
            oldest.unlink(missing_ok=True)
        return key

    def find(self, key: str) -> Path:
        """Where the file of this key lies."""
        if key not in self._files:
            raise InputError("upload", key[:40], "is no longer here", "drop the file again")
        self._files.move_to_end(key)
        return self._files[key]

    def close(self) -> None:
        self._files.clear()
        self._folder.cleanup()
        self._lock.close()


def clear_left_behind() -> None:
    """Delete the folders of pages that were killed: those of this user whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            told = folder.lstat()
            if not stat.S_ISDIR(told.st_mode) or told.st_uid != os.getuid():
                continue
            if (folder / LOCK).exists():
                with open(folder / LOCK, "rb") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError where somebody holds it
                    shutil.rmtree(folder, ignore_errors=True)
            elif time.time() - told.st_mtime > OLD:
                shutil.rmtree(folder, ignore_errors=True)


def _ending(name: str) -> str:
    """
    >>> _ending("../../runs.CSV.gz"), _ending("evil.sh")
    ('.csv.gz', '.csv')
    """
    parts = [f".{part}" for part in name.lower().split(".")[1:]]
    known = [part for part in parts[-2:] if part in ENDINGS]
    return "".join(known) or ".csv"
