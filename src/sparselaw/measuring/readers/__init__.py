"""Readers, one file a format, and which one reads a file."""

from __future__ import annotations

from pathlib import Path

from sparselaw.errors import InputError
from sparselaw.measuring.readers.anndata_file import AnnDataReader
from sparselaw.measuring.readers.base import Reader, Reading
from sparselaw.measuring.readers.dense_npy import NpyReader
from sparselaw.measuring.readers.matrix_market import MatrixMarketReader
from sparselaw.measuring.readers.python_source import PythonReader
from sparselaw.measuring.readers.safetensors_file import SafetensorsReader
from sparselaw.measuring.readers.scipy_npz import NpzReader
from sparselaw.measuring.readers.svmlight import SvmlightReader
from sparselaw.measuring.readers.text_lines import TextReader
from sparselaw.measuring.readers.transactions import TransactionReader
from sparselaw.measuring.readers.triplets import TripletReader
from sparselaw.measuring.vocabulary import Vocabulary

READERS: dict[str, type[Reader]] = {
    reader.name: reader
    for reader in (
        NpzReader, NpyReader, MatrixMarketReader, SvmlightReader, TripletReader,
        TransactionReader, TextReader, PythonReader, AnnDataReader, SafetensorsReader,
    )
}  # fmt: skip


def reader_of(path: Path, reading: Reading, vocabulary: Vocabulary | None = None) -> Reader:
    """The reader of a file, by ``--format`` or by its ending."""
    if reading.format is not None:
        if reading.format not in READERS:
            raise InputError(
                "format", reading.format, "is not one of the choices", f"choose {' or '.join(READERS)}"
            )
        kind = READERS[reading.format]
    else:
        known = ending_of(path)
        if known is None:
            raise InputError(
                "file", str(path), "has an ending that says nothing", f"give --format: {', '.join(READERS)}"
            )
        kind = known
    return kind(path, reading, Vocabulary() if vocabulary is None else vocabulary)


def ending_of(path: Path) -> type[Reader] | None:
    """The reader that knows a file's ending."""
    name = path.name.lower()
    return next((kind for kind in READERS.values() if name.endswith(kind.endings)), None)
