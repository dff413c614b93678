"""Readers of files of features: a function for each format, and which one reads a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sparselaw.errors import check_choice
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.array_files import read_h5ad, read_npy, read_npz
from sparselaw.measuring.readers.base import FeatureFile, Format, readable
from sparselaw.measuring.readers.line_files import data_lines, read_matrix_market, read_svmlight
from sparselaw.measuring.readers.safetensors_file import read_safetensors
from sparselaw.measuring.readers.text_files import (
    baskets,
    documents,
    python_lines,
    read_python,
    read_text,
    read_transactions,
)
from sparselaw.measuring.readers.triplets import read_triplets

SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz")
READERS = {
    "npz": Format((".npz",), read_npz, sized=True),
    "npy": Format((".npy",), read_npy, sized=True),
    "mtx": Format((".mtx", ".mtx.gz"), read_matrix_market, sized=True),
    "svmlight": Format(SVMLIGHT, read_svmlight, lines=data_lines),
    "triplets": Format((".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"), read_triplets),
    "transactions": Format((".dat", ".dat.gz", ".basket"), read_transactions, lines=baskets),
    "text": Format((".txt", ".txt.gz", ".text", ".md", ".rst"), read_text, lines=documents),
    "python": Format((".py",), read_python, lines=python_lines),
    "h5ad": Format((".h5ad",), read_h5ad, sized=True),
    "safetensors": Format((".safetensors",), read_safetensors, sized=True),
}


def format_of(file: FeatureFile) -> Format:
    """The format of a file, by ``--format`` or by its ending."""
    if file.reading.format is not None:
        return READERS[check_choice("format", file.reading.format, READERS)]
    if (known := ending_of(file.path)) is None:
        raise file.refuse("has an ending that says nothing", f"give --format: {', '.join(READERS)}")
    return known


def ending_of(path: Path) -> Format | None:
    """The format that has a file's ending."""
    name = path.name.lower()
    return next((kind for kind in READERS.values() if name.endswith(kind.endings)), None)


def nonzeros_of(file: FeatureFile) -> Iterator[Nonzeros]:
    """The nonzeros, part by part; a file that is broken in any way is refused in one line."""
    with readable(file.path):
        yield from format_of(file).parts(file)


def rows_of(file: FeatureFile) -> int:
    """How many rows a file has."""
    with readable(file.path):
        known = format_of(file)
        if known.lines is not None:
            return sum(1 for _ in known.lines(file))
        return max((part.rows for part in islice(known.parts(file), 1 if known.sized else None)), default=0)
