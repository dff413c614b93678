"""Files: written whole or not at all, never over what is read, opened with a limit on their unpacked size.

Nothing in a file is trusted, least of all how large it says it is. Whoever reads one asks here first:
``check_bytes`` before memory is taken for what a header promises, ``open_unpacked`` for anything that may be
packed. The limit is one number, ``MAX_SIZE``; real data pack three to ten times, so that a file may unpack to
twenty times its own size whatever the limit is.
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, BinaryIO

from sparselaw.errors import InputError

USUAL_LIMIT = 512 << 20
MAX_SIZE: ContextVar[int] = ContextVar("max_size", default=USUAL_LIMIT)
PACKING: ContextVar[int] = ContextVar("packing", default=20)  # times its packed size, whatever the limit
LINES_IN_LIMIT = 8  # a line may have so small a part of the limit: it is held several times over
OPTION = "--max-size"
PICTURES = (".svg", ".png", ".pdf", ".html")


@contextmanager
def limited_to(size: int | None, packing: int | None = None) -> Iterator[None]:
    """In this block files may ask for ``size`` bytes of memory; None leaves the limit as it is.

    ``packing``: or for so many times their packed size.
    """
    before = MAX_SIZE.get(), PACKING.get()
    MAX_SIZE.set(before[0] if size is None else size)
    PACKING.set(before[1] if packing is None else packing)
    try:
        yield
    finally:
        MAX_SIZE.set(before[0])
        PACKING.set(before[1])


def check_bytes(
    path: str | os.PathLike[str],
    size: float,
    what: str,
    packed: float = 0.0,
    name: str = "file",
    remedy: str | None = None,
) -> None:
    """Refuse what would need ``size`` bytes, more than the limit and than ``packed`` bytes usually unpack to.

    >>> check_bytes("x.npz", 1e12, "its table of 1e6 rows and 1e6 columns")
    Traceback (most recent call last):
    ...
    sparselaw.errors.InputError: file=x.npz: its table of 1e6 rows and 1e6 columns needs 931.3 GB, ...
    """
    if size > max(MAX_SIZE.get(), PACKING.get() * packed):
        condition = f"{what} needs {_shown(size)}, more than the limit of {_shown(MAX_SIZE.get())}"
        raise InputError(name, path, condition, remedy or f"raise it with {OPTION} {_shown(size, up=True)}")


def open_unpacked(path: Path, *, lines: bool = False, held: int = 1) -> IO[bytes]:
    """The bytes of a file, unpacked where its name ends in .gz; ``lines``: with a limit on each line.

    ``held``: how many times over its reader holds it, so that its limit is that part of the usual one.
    """
    packed = path.suffix.lower() == ".gz"
    source: IO[bytes] = gzip.GzipFile(path) if packed else path.open("rb")  # type: ignore[assignment]
    return (
        io.BufferedReader(_Limited(path, source, packed, lines, held), 1 << 18) if packed or lines else source
    )


def read_unpacked(path: Path, held: int = 1) -> bytes:
    """The whole content of a file, unpacked where its name ends in .gz."""
    with open_unpacked(path, held=held) as file:
        return file.read()


def check_archive(path: Path, name: str = "file", remedy: str | None = None) -> None:
    """Refuse a zip file (.npz, .xlsx) whose members unpack to more than the limit."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_bytes(path, size, "what it unpacks to", path.stat().st_size, name, remedy)


class _Limited(io.RawIOBase):
    """Passes bytes on and counts them."""

    def __init__(self, path: Path, source: IO[bytes], packed: bool, lines: bool, held: int) -> None:
        self._path, self._source, self._lines, self._held = path, source, lines, held
        size = path.stat().st_size
        self._most = max(MAX_SIZE.get(), PACKING.get() * size) // held if packed else None
        self._longest = MAX_SIZE.get() // LINES_IN_LIMIT
        self._done = self._line = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self._source.read(len(view))
        view[: len(data)] = data
        self._done += len(data)
        if self._most is not None and self._done > self._most:
            condition = f"unpacks to more than {_shown(self._most)}"
            wanted = _shown(2.0 * self._held * self._most, up=True)
            raise InputError("file", self._path, condition, f"raise the limit with {OPTION} {wanted}")
        if self._lines:
            self._look_at_lines(data)
        return len(data)

    def _look_at_lines(self, data: bytes) -> None:
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        if self._line > self._longest:
            condition = f"has a line of more than {_shown(self._longest)}"
            remedy = f"raise the limit with {OPTION} {_shown(2 * LINES_IN_LIMIT * self._longest, up=True)}"
            raise InputError("file", self._path, condition, f"check that it has lines, or {remedy}")

    def close(self) -> None:
        self._source.close()
        super().close()


def _shown(size: float, up: bool = False) -> str:
    """A size as people write it, and as the option takes it; ``up``: not less than it is."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size >= unit:
            return f"{int(size / unit) + 1}{name}" if up else f"{size / unit:.4g} {name}"
    return f"{size:.0f} bytes"


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, through links and whatever the case, or would if it were made."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)


def check_not_read(
    name: str, out: str, read: Iterable[str | os.PathLike[str]], any_ending: bool = False
) -> None:
    """Refuse to write ``out`` where it is one of the files, or in one of the folders, that are read.

    Of a folder, pictures and pages are not read, unless files of any ending are.
    """
    if not os.path.isfile(out):
        return
    picture = not any_ending and Path(out).suffix.lower() in PICTURES
    for path in read:
        if same_file(out, path):
            raise InputError(name, out, "is a file that this command reads", "name another file to write")
        if not picture and os.path.isdir(path) and any(same_file(out, file) for file in files_below(path)):
            raise InputError(name, out, f"lies in {path}, which this command reads", "name a file elsewhere")


def files_below(folder: str | os.PathLike[str]) -> list[Path]:
    """Every file of a folder and of the folders in it, by name; a folder that may not be read is refused."""

    def refuse(error: OSError) -> None:
        condition = f"may not be read ({error.strerror})"
        raise InputError("file", error.filename, condition, "change its permissions, or move it elsewhere")

    found = [Path(where, name) for where, _, names in os.walk(folder, onerror=refuse) for name in names]
    return sorted(path for path in found if path.is_file())


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
    handle, name = tempfile.mkstemp(prefix=beside(target), dir=target.parent)
    try:
        with open(handle, "wb") as file:
            yield file
        os.chmod(name, target.stat().st_mode if target.exists() else 0o666 & ~umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def beside(path: Path) -> str:
    """How the name of a temporary file beside ``path`` begins: short enough for the random part to follow."""
    return f".{path.name.encode('utf-8', 'surrogateescape')[:100].decode('utf-8', 'ignore')}."


def umask() -> int:
    """The permissions that new files do not get; the system tells only while it is changed."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
