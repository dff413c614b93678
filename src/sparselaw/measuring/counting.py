"""From what the user names to the tally: files, folders of shards, matrices, iterators of blocks.

Several files are counted side by side by worker processes, or by the workers of a Dask scheduler. Rows of the
files follow one another in the order of their names, so that blocks of rows are the same as in one long file:
each worker is told how many rows come before its own.

Rows are cut into at most 32 contiguous blocks (fewer where there are very many features), for the jackknife.
How many rows there will be need not be known: a block starts with one row, and when there are too many
blocks, neighbours become one and blocks are twice as long. So the blocks depend on the rows alone: not on the
size of the pieces in which they came, nor on how files were shared among machines. Counts are the same then;
sums of squares agree to rounding.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.files import MAX_SIZE, check_bytes, files_below, limited_to
from sparselaw.measuring.nonzeros import Nonzeros, Values, no_entries, parts_in_memory
from sparselaw.measuring.readers import ending_of, nonzeros_of, rows_of
from sparselaw.measuring.readers.base import FeatureFile, Reading, Vocabulary
from sparselaw.measuring.readers.text_files import STANDARD_LIBRARY, standard_library
from sparselaw.progress import progress

ONE_PROCESS_BYTES = 64 << 20  # bytes that one process reads before another has started
MOST_NONZEROS = 200_000_000  # nonzeros of a learning curve
Names = list[Hashable] | None


def count_features(
    source: Any, *, values: Values, reading: Reading, workers: int | None = None, scheduler: str | None = None
) -> tuple[Counted, Names]:
    """Count what ``source`` names or holds; the names of the features where they have some."""
    paths = files_of(source, reading) if names_files(source) else []
    several = len(paths) > 1 and workers != 1
    if several and workers is None:  # starting a worker takes as long as reading some tens of megabytes
        several = sum(path.stat().st_size for path in paths) > ONE_PROCESS_BYTES
    if paths and (several or scheduler is not None):
        return _side_by_side(paths, values, reading, workers, scheduler)
    tally, vocabulary = Tally(center=values.center), Vocabulary()
    shape: Any = getattr(source, "shape", ())
    done = 0
    with progress("counting") as show:
        for part in parts_of(paths or source, reading, vocabulary):
            tally.add(values.apply(part))
            done = max(done, int(part.row.max(initial=-1)) + 1)
            show(done, shape[0] if len(shape) == 2 else None, f"{done} rows")
    return tally.counted(len(vocabulary)), list(vocabulary) or None


def title_of(source: Any) -> str:
    """What to call a source: its path, how many files, or what it is."""
    if not names_files(source):
        return type(source).__name__
    return str(source) if isinstance(source, (str, Path)) else f"{len(source)} files"


def names_files(source: Any) -> bool:
    """Whether a source is a path or several, not data."""
    several = source if isinstance(source, (list, tuple)) and source else [source]
    return all(isinstance(path, (str, Path)) for path in several)


def files_of(source: Any, reading: Reading) -> list[Path]:
    """The files that paths and folders name, in the order in which people count (part-2 before part-10)."""

    def is_shard(path: Path) -> bool:
        known = reading.format is not None or ending_of(path) is not None
        return known and not path.name.startswith((".", "_"))

    def by_number(path: Path) -> list[Any]:
        return [(int(t), "") if t.isdigit() else (-1, t) for t in re.split(r"(\d+)", str(path))]

    found: list[Path] = []
    for item in [source] if isinstance(source, (str, Path)) else source:
        path = Path(item)
        if str(item) == STANDARD_LIBRARY and not path.exists():
            found += standard_library()
        elif path.is_dir():
            inside = sorted(filter(is_shard, files_below(path)), key=by_number)
            several = reading.format is None and len({ending_of(p) for p in inside}) > 1
            if several or not inside:
                condition = "with files of several formats" if several else "without files to read"
                raise InputError("file", str(path), f"is a folder {condition}", "give --format")
            found += inside
        elif not path.exists():
            raise InputError("file", str(path), "does not exist", "check the path")
        else:
            found.append(path)
    return found


def parts_of(source: Any, reading: Reading, vocabulary: Vocabulary) -> Iterator[Nonzeros]:
    """The nonzeros of a source as one long matrix."""
    if not names_files(source):
        yield from parts_in_memory(source)
        return
    done, width = 0, None
    for path in files_of(source, reading):
        rows = 0
        for part in nonzeros_of(FeatureFile(path, reading, vocabulary)):
            width = _same_width(path, width, part.features)
            rows = max(rows, part.rows)
            yield part.after(done)
        done += rows


def _same_width(path: Path, width: int | None, declared: int | None) -> int | None:
    if width is not None and declared is not None and declared != width:
        condition = f"has {declared} features where the files before have {width}"
        raise InputError("file", str(path), condition, "give shards of the same features")
    return width if declared is None else declared


def _side_by_side(
    paths: list[Path], values: Values, reading: Reading, workers: int | None, scheduler: str | None
) -> tuple[Counted, Names]:
    from sparselaw.sweeps.executors import SweepExecutor, WorkerPool, all_cores

    executor: SweepExecutor
    if scheduler is not None:
        from sparselaw.sweeps.executors import DaskExecutor

        executor = DaskExecutor(scheduler)
        paths = [path.absolute() for path in paths]
    else:
        executor = WorkerPool(min(all_cores() if workers is None else workers, len(paths)))
    width, vocabulary = None, Vocabulary()
    with executor, progress("counting") as show:
        try:
            limit = MAX_SIZE.get()
            rows = [f.result() for f in [executor.submit(count_rows, path, reading, limit) for path in paths]]
            tally = Tally(center=values.center)
            futures = [
                executor.submit(count_file, path, sum(rows[:i]), values, reading, limit)
                for i, path in enumerate(paths)
            ]
            for done, (path, future) in enumerate(zip(paths, futures, strict=True), start=1):
                counted, names, declared = future.result()
                width = _same_width(path, width, declared)
                tally.merge(counted, None if names is None else vocabulary.columns(names))
                show(done, len(futures), "files")
        except BaseException:
            executor.abort()
            raise
    return tally.counted(len(vocabulary)), list(vocabulary) or None


def count_rows(path: Path, reading: Reading, limit: int | None = None) -> int:
    """How many rows a file has; ``limit`` bytes it may ask for."""
    with limited_to(limit):
        return rows_of(FeatureFile(path, reading, Vocabulary()))


def count_file(
    path: Path, first: int, values: Values, reading: Reading, limit: int | None = None
) -> tuple[Counted, Names, int | None]:
    """The tally of one file that follows on ``first`` rows; its words; the width it declares."""
    tally, vocabulary, declared = Tally(center=values.center), Vocabulary(), None
    with limited_to(limit):
        for part in nonzeros_of(FeatureFile(path, reading, vocabulary)):
            tally.add(values.apply(part).after(first))
            declared = part.features
    return tally.counted(len(vocabulary), first), list(vocabulary) or None, declared


class Loaded(NamedTuple):
    """The features as one matrix in memory (scipy, by rows), of the columns that occur.

    ``column`` are the numbers of those columns, ``names`` their names where they have some; ``features`` is
    how many columns the source has, with those that never occur.
    """

    x: Any
    column: NDArray[np.int64]
    names: Sequence[Hashable] | None
    features: int


def load(source: Any, *, values: Values, reading: Reading) -> Loaded:
    """All nonzeros of a source."""
    from scipy import sparse

    vocabulary, title = Vocabulary(), title_of(source)
    kept = [no_entries(0)]
    count = features = nonzeros = 0
    with progress("reading") as show:
        for part in parts_of(source, reading, vocabulary):
            kept.append(values.apply(part))
            largest = int(kept[-1].column.max(initial=-1)) + 1
            count, features = max(count, part.rows), max(features, part.features or 0, largest)
            nonzeros += kept[-1].row.size
            show(nonzeros, None, f"{nonzeros} nonzeros")
            if nonzeros > MOST_NONZEROS:
                condition = f"has more than {MOST_NONZEROS} nonzeros, too many for a learning curve"
                raise InputError("file", title, condition, "give some of its shards")
    check_bytes(title, 8.0 * count, f"a matrix of {count} rows", 24.0 * nonzeros)
    row, column, value = (
        np.concatenate([getattr(part, name) for part in kept]) for name in ("row", "column", "value")
    )
    numbers, place = np.unique(column, return_inverse=True)
    x: Any = sparse.coo_matrix((value, (row, place)), shape=(count, numbers.size))
    names = list(vocabulary)
    width = max(features, len(vocabulary))
    return Loaded(x.tocsr(), numbers, [names[j] for j in numbers] if names else None, width)


BLOCKS = 32
FEWEST_BLOCKS = 8
CELLS = 1 << 24  # blocks times features from which on blocks are fewer
DIRECT = 1 << 22  # columns below this are counted at their own number


def most_blocks(features: int) -> int:
    """How many blocks are kept for so many features."""
    blocks = BLOCKS
    while blocks > FEWEST_BLOCKS and blocks * features > CELLS:
        blocks //= 2
    return blocks


class Tally:
    """Counts so far, by blocks of rows and by columns.

    Blocks begin with the first row of all files, whichever of them is counted here. Memory is for columns
    that occur, not for the largest number: once one lies far out, all have places in the order in which they
    appeared.
    """

    def __init__(self, *, center: bool = False) -> None:
        self.rows, self.features, self.length = 0, 0, 1
        self._width = self._filled = 0  # places and blocks in use
        self._far: Vocabulary | None = None  # from the number of a column to its place
        self._cells: dict[str, NDArray[Any]] = {"n": np.zeros((BLOCKS, 64), np.uint32)}
        if center:
            self._cells["sums"] = np.zeros((BLOCKS, 64))

    def add(self, part: Nonzeros) -> None:
        """Count these nonzeros."""
        self.rows, self.features = max(self.rows, part.rows), max(self.features, part.features or 0)
        squares = part.value * part.value
        self._count(part.row, part.column, n=np.uint32(1), squares=squares, sums=part.value)

    def merge(self, other: Counted, columns: NDArray[np.int64] | None = None) -> None:
        """Count what was counted elsewhere; ``columns`` says which column a number of its own means."""
        self.rows, self.features = max(self.rows, other.rows), max(self.features, other.features)
        own = other.column if columns is None else columns[other.column]
        names = ("squares", *self._cells)
        for block, active in enumerate(other.n):
            at = np.flatnonzero(active)
            row = np.full(at.size, (other.start + block) * other.length)
            self._count(
                row, own[at], other.length, **{name: getattr(other, name)[block, at] for name in names}
            )

    def _count(self, row: IntArray, column: IntArray, length: int = 1, **added: Any) -> None:
        """Add these numbers; of blocks as long as ``length`` at least."""
        largest = int(column.max(initial=-1))
        self.features = max(self.features, largest + 1)
        place = self._places(column, largest)
        if "squares" not in self._cells and (added["squares"] != added["n"]).any():  # of ones they are counts
            self._cells["squares"] = self._cells["n"].astype(np.float64)
        held = self._cells["n"].shape[1]
        if self._width > held:  # zeros take no memory before they are counted in
            more = max(self._width - held, min(held, 1 << 20))
            for name, cells in self._cells.items():
                self._cells[name] = np.zeros((BLOCKS, held + more), cells.dtype)
                self._cells[name][: self._filled, :held] = cells[: self._filled]
        while self.length < length or -(-self.rows // self.length) > most_blocks(self._width):
            half = -(-self._filled // 2)
            for cells in self._cells.values():
                cells[:half] = cells[: 2 * half : 2] + cells[1 : 2 * half : 2]
                cells[half : self._filled] = 0
            self.length, self._filled = 2 * self.length, half
        block = row // self.length
        self._filled = max(self._filled, int(block.max(initial=-1)) + 1)
        cell = block * self._cells["n"].shape[1] + place
        for name, cells in self._cells.items():
            np.add.at(cells.reshape(-1), cell, added[name])

    def _places(self, column: IntArray, largest: int) -> IntArray:
        if self._far is None and largest < DIRECT:
            self._width = max(self._width, largest + 1)
            return column
        if self._far is None:
            self._far = Vocabulary()
            self._far.columns(range(self._width))
        found = self._far.columns_of_array(column)
        self._width = len(self._far)
        return found

    def counted(self, features: int = 0, first: int = 0) -> Counted:
        """What was counted from row ``first`` on, by the number of the column, without room that was left."""
        numbers = np.arange(self._width) if self._far is None else np.array(list(self._far), np.int64)
        seen = np.flatnonzero(self._cells["n"][:, : self._width].any(axis=0))
        order = seen[np.argsort(numbers[seen], kind="stable")]
        blocks = slice(first // self.length, -(-self.rows // self.length))
        found = {name: cells[blocks, order] for name, cells in self._cells.items()}
        found = {"squares": found["n"], **found}
        features = max(features, self.features)
        return Counted(self.rows, self.length, blocks.start, features, numbers[order], **found)


@dataclass(frozen=True, slots=True)
class Counted:
    """A tally by blocks of ``length`` rows, from number ``start`` on, and columns that occur of ``features``.

    ``column`` are the numbers of those columns, rising. ``n`` are the rows in which a column is active,
    ``squares`` the sum of x^2 (the same array where all values are one), ``sums`` that of x where wanted.
    """

    rows: int
    length: int
    start: int
    features: int
    column: NDArray[np.int64]
    n: NDArray[np.uint32]
    squares: NDArray[Any]
    sums: FloatArray | None = None

    def counts(self) -> NDArray[np.int64]:
        """n_j: rows in which the column is active."""
        return np.asarray(self.n.sum(axis=0, dtype=np.int64))

    def block_rows(self) -> NDArray[np.int64]:
        """How many rows each block has."""
        return np.diff(np.minimum(self.length * np.arange(len(self.n) + 1), self.rows))
