"""A matrix of 1e8 nonzeros made in blocks, measured as it comes: seconds and peak memory.

The blocks are made beforehand from a few drawn ones, so that what is timed is the measurement.

    python benchmarks/measure_nonzeros.py [nonzeros] [features]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

import sparselaw as sl

ROW = 20  # nonzeros in a row
BLOCK = 100_000  # rows


def drawn(features: int, rng: np.random.Generator, binary: bool) -> sparse.csr_array:
    """Columns by a power law, a few meeting in a row: those are dropped."""
    column = np.minimum(features * rng.random((BLOCK, ROW)) ** 3, features - 1).astype(np.int32)
    value = np.ones(column.size) if binary else np.exp(rng.standard_normal(column.size))
    starts = np.arange(0, column.size + 1, ROW)
    block = sparse.csr_array((value, column.ravel(), starts), shape=(BLOCK, features))
    block.sum_duplicates()
    if binary:
        block.data[:] = 1.0
    return block


def blocks(made: list[sparse.csr_array], count: int) -> Iterator[sparse.csr_array]:
    for i in range(count):
        yield made[i % len(made)]


def main(nonzeros: int = 10**8, features: int = 10**6) -> None:
    rng = np.random.default_rng(0)
    for binary in (True, False):
        made = [drawn(features, rng, binary) for _ in range(4)]
        count = -(-nonzeros // (BLOCK * ROW))
        sl.measure(blocks(made, 1))  # compiles
        start = time.perf_counter()
        found = sl.measure(blocks(made, count))
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        kind = "binary" if binary else "real values"
        print(
            f"{kind}: {found.nonzeros:.3g} nonzeros, {found.rows} rows, {found.seen} features: "
            f"{seconds:.1f} s, {seconds / found.nonzeros * 1e9:.0f} ns each, peak {peak:.2f} GiB",
            flush=True,
        )


if __name__ == "__main__":
    main(*(int(float(a)) for a in sys.argv[1:]))
