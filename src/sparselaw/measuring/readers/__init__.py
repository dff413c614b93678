"""Readers, one file a format, and which one reads a file."""

from __future__ import annotations

from pathlib import Path

from sparselaw.errors import InputError
from sparselaw.measuring.readers.base import Reader, Reading, Vocabulary
from sparselaw.measuring.readers.h5ad_file import H5adReader
from sparselaw.measuring.readers.line_files import MatrixMarketReader, SvmlightReader, TransactionReader
from sparselaw.measuring.readers.numpy_files import NpyReader, NpzReader
from sparselaw.measuring.readers.safetensors_file import SafetensorsReader
from sparselaw.measuring.readers.text_files import PythonReader, TextReader
from sparselaw.measuring.readers.triplets import TripletReader

READERS: dict[str, type[Reader]] = {
    reader.name: reader
    for reader in (
        NpzReader, NpyReader, MatrixMarketReader, SvmlightReader, TripletReader,
        TransactionReader, TextReader, PythonReader, H5adReader, SafetensorsReader,
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
