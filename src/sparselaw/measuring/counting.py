"""From what the user names to the tally: files, folders of shards, matrices, iterators of blocks.

Several files are counted side by side by worker processes, or by the workers of a Dask scheduler. Rows of the
files follow one another in the order of their names, so that blocks of rows are the same as in one long file:
each worker is told how many rows come before its own.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.errors import InputError
from sparselaw.files import MAX_SIZE, check_bytes, files_below, limited_to
from sparselaw.measuring.nonzeros import Nonzeros, Values, no_entries, parts_in_memory
from sparselaw.measuring.readers import ending_of, reader_of
from sparselaw.measuring.readers.base import Reading, Vocabulary, readable
from sparselaw.measuring.readers.text_files import STANDARD_LIBRARY, standard_library
from sparselaw.measuring.tally import Counted, Tally, put_together
from sparselaw.progress import progress

SMALL = 64 << 20  # bytes that one process reads before another has started
MOST = 200_000_000  # nonzeros of a learning curve
Names = list[Hashable] | None


def count_features(
    source: Any, *, values: Values, reading: Reading, workers: int | None = None, scheduler: str | None = None
) -> tuple[Counted, Names]:
    """Count what ``source`` names or holds; the names of the features where they have some."""
    paths = files_of(source, reading) if names_files(source) else []
    if paths and (scheduler is not None or (len(paths) > 1 and _parallel(paths, workers))):
        return _side_by_side(paths, values, reading, workers, scheduler)
    tally, vocabulary = Tally(center=values.center), Vocabulary()
    shape: Any = getattr(source, "shape", ())
    with progress("counting") as show:
        for part in parts_of(paths or source, reading, vocabulary):
            tally.add(values.apply(part))
            show(tally.rows, shape[0] if len(shape) == 2 else None, f"{tally.rows} rows")
    tally.reach(features=len(vocabulary))
    return tally.counted(), vocabulary.names or None


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
    found: list[Path] = []
    for item in [source] if isinstance(source, (str, Path)) else source:
        path = Path(item)
        if str(item) == STANDARD_LIBRARY and not path.exists():
            found += standard_library()
        elif path.is_dir():
            inside = sorted((p for p in files_below(path) if _is_shard(p, reading)), key=_natural)
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


def _is_shard(path: Path, reading: Reading) -> bool:
    return not path.name.startswith((".", "_")) and (
        reading.format is not None or ending_of(path) is not None
    )


def _natural(path: Path) -> list[Any]:
    return [(int(t), "") if t.isdigit() else (-1, t) for t in re.split(r"(\d+)", str(path))]


def parts_of(source: Any, reading: Reading, vocabulary: Vocabulary) -> Iterator[Nonzeros]:
    """The nonzeros of a source as one long matrix."""
    if not names_files(source):
        yield from parts_in_memory(source)
        return
    done, width = 0, None
    for path in files_of(source, reading):
        rows = 0
        with readable(path):
            for part in reader_of(path, reading, vocabulary).nonzeros():
                width = _same_width(path, width, part.features)
                rows = max(rows, part.rows)
                yield part.after(done)
        done += rows


def _same_width(path: Path, width: int | None, declared: int | None) -> int | None:
    if width is not None and declared is not None and declared != width:
        condition = f"has {declared} features where the files before have {width}"
        raise InputError("file", str(path), condition, "give shards of the same features")
    return width if declared is None else declared


def _parallel(paths: list[Path], workers: int | None) -> bool:
    """Starting a worker takes as long as reading some tens of megabytes."""
    if workers is not None:
        return workers > 1
    return sum(path.stat().st_size for path in paths) > SMALL


def _side_by_side(
    paths: list[Path], values: Values, reading: Reading, workers: int | None, scheduler: str | None
) -> tuple[Counted, Names]:
    from sparselaw.sweeps.executors import SweepExecutor, WorkerPool, all_cores

    executor: SweepExecutor
    if scheduler is not None:
        from sparselaw.sweeps.cluster import DaskExecutor

        executor = DaskExecutor(scheduler)
        paths = [path.absolute() for path in paths]
    else:
        executor = WorkerPool(min(all_cores() if workers is None else workers, len(paths)))
    with executor, progress("counting") as show:
        try:
            limit = MAX_SIZE.get()
            rows = [f.result() for f in [executor.submit(rows_of, path, reading, limit) for path in paths]]
            futures = [
                executor.submit(count_file, path, sum(rows[:i]), values, reading, limit)
                for i, path in enumerate(paths)
            ]
            files = []
            for done, future in enumerate(futures, start=1):
                files.append(future.result())
                show(done, len(futures), "files")
        except BaseException:
            executor.abort()
            raise
    width, vocabulary = None, Vocabulary()
    for path, (_, _, declared) in zip(paths, files, strict=True):
        width = _same_width(path, width, declared)
    columns = [None if names is None else vocabulary.columns(names) for _, names, _ in files]
    features = max([len(vocabulary), *(counted.features for counted, _, _ in files)])
    counted = put_together([counted for counted, _, _ in files], columns, features)
    return counted, vocabulary.names if any(names is not None for _, names, _ in files) else None


def rows_of(path: Path, reading: Reading, limit: int | None = None) -> int:
    """How many rows a file has; ``limit`` bytes it may ask for."""
    with limited_to(limit), readable(path):
        return reader_of(path, reading).rows()


def count_file(
    path: Path, first: int, values: Values, reading: Reading, limit: int | None = None
) -> tuple[Counted, Names, int | None]:
    """The tally of one file whose rows follow on ``first`` others; its words; the width it declares."""
    vocabulary, declared = Vocabulary(), None
    tally = Tally(first=first, center=values.center)
    with limited_to(limit), readable(path):
        reader = reader_of(path, reading, vocabulary)
        for part in reader.nonzeros():
            tally.add(values.apply(part))
            declared = part.features
    tally.reach(features=len(vocabulary))
    return tally.counted(), vocabulary.names if reader.worded else None, declared


@dataclass(frozen=True, slots=True)
class Loaded:
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
            if nonzeros > MOST:
                condition = f"has more than {MOST} nonzeros, too many for a learning curve"
                raise InputError("file", title, condition, "give some of its shards")
    check_bytes(title, 8.0 * count, f"a matrix of {count} rows", 24.0 * nonzeros)
    row, column, value = (
        np.concatenate([getattr(part, name) for part in kept]) for name in ("row", "column", "value")
    )
    numbers, place = np.unique(column, return_inverse=True)
    x: Any = sparse.coo_matrix((value, (row, place)), shape=(count, numbers.size))
    names = vocabulary.names
    width = max(features, len(vocabulary))
    return Loaded(x.tocsr(), numbers, [names[j] for j in numbers] if names else None, width)
