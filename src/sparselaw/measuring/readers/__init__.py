"""Readers of files of features, and which one reads a file."""

from __future__ import annotations

from pathlib import Path

from sparselaw.errors import InputError, check_choice
from sparselaw.measuring.readers.array_files import H5adReader, NpyReader, NpzReader
from sparselaw.measuring.readers.base import Reader, Reading, Vocabulary
from sparselaw.measuring.readers.line_files import MatrixMarketReader, SvmlightReader
from sparselaw.measuring.readers.safetensors_file import SafetensorsReader
from sparselaw.measuring.readers.text_files import PythonReader, TextReader, TransactionReader
from sparselaw.measuring.readers.triplets import TripletReader

READERS: dict[str, type[Reader]] = {
    reader.name: reader
    for reader in (
        NpzReader, NpyReader, MatrixMarketReader, SvmlightReader, TripletReader,
        TransactionReader, TextReader, PythonReader, H5adReader, SafetensorsReader,
    )
}  # fmt: skip


def reader_of(path: Path, reading: Reading, vocabulary: Vocabulary) -> Reader:
    """The reader of a file, by ``--format`` or by its ending."""
    kind = ending_of(path)
    if reading.format is not None:
        kind = READERS[check_choice("format", reading.format, READERS)]
    if kind is None:
        remedy = f"give --format: {', '.join(READERS)}"
        raise InputError("file", str(path), "has an ending that says nothing", remedy)
    return kind(path, reading, vocabulary)


def ending_of(path: Path) -> type[Reader] | None:
    """The reader that knows a file's ending."""
    name = path.name.lower()
    return next((kind for kind in READERS.values() if name.endswith(kind.endings)), None)
