"""Tables of (sample, feature, value), CSV or Parquet: a line a nonzero.

Samples may be named by anything and are rows in the order in which they appear; so are features. Lines of a
sample must stand together, and a feature given twice in a sample is added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sparselaw.errors import InputError
from sparselaw.files import open_unpacked
from sparselaw.measuring.nonzeros import PART, Nonzeros
from sparselaw.measuring.readers.base import FeatureFile, Vocabulary

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "sample": ("sample", "row", "document", "doc", "user", "basket", "order", "cell", "barcode", "i", "id"),
    "feature": (
        "feature", "column", "col", "word", "token", "item", "product", "gene", "latent", "j", "index",
    ),
    "value": ("value", "count", "x", "data", "weight", "activation", "n"),
}  # fmt: skip


def read_triplets(file: FeatureFile) -> Iterator[Nonzeros]:
    """The nonzeros of the lines of whole samples, part by part."""
    import pandas as pd

    samples = Vocabulary()
    kept: pd.DataFrame | None = None  # lines of a sample that may go on
    for table in _tables(file):
        chosen = _chosen(file, table)
        joined = chosen if kept is None else pd.concat([kept, chosen], ignore_index=True)
        others = (joined["sample"] != joined["sample"].iloc[-1]).to_numpy()
        whole = int(np.flatnonzero(others).max(initial=-1)) + 1
        kept = joined.iloc[whole:]
        if len(kept) > PART:  # one sample with more lines than features: they are added up
            kept = kept.groupby(["sample", "feature"], sort=False, as_index=False)[["value"]].sum()
        if whole:
            yield _part(file, joined.iloc[:whole], samples)
    if kept is not None:
        yield _part(file, kept, samples)


def _part(file: FeatureFile, table: pd.DataFrame, samples: Vocabulary) -> Nonzeros:
    known = len(samples)
    row = samples.columns_of_array(table["sample"].to_numpy())
    if row.min() < known:
        condition = "does not keep the lines of a sample together"
        raise file.refuse(condition, "sort the table by its sample column")
    column = file.vocabulary.columns_of_array(table["feature"].to_numpy())
    return Nonzeros(row, column, table["value"].to_numpy(np.float64), len(samples))


def _chosen(file: FeatureFile, table: pd.DataFrame) -> pd.DataFrame:
    """The columns sample, feature and value of a table, checked."""
    import pandas as pd

    table.columns = table.columns.map(str)
    names = _names(file, list(table.columns))
    chosen = table[names].set_axis(["sample", "feature", "value"][: len(names)], axis=1)
    if "value" not in chosen:
        chosen["value"] = 1.0
    for name in ("sample", "feature"):
        column = chosen[name]
        if column.isna().any():
            at = int(column.isna().to_numpy().argmax())
            raise file.refuse(f"has no {name} in line {at + 2} of a part", f"drop lines without a {name}")
        if pd.api.types.is_numeric_dtype(column) and len(column) and column.min() < 0:
            condition = f"is a negative index in {file.path}"
            raise InputError(name, int(column.min()), condition, f"number each {name} from 0")
    if not pd.api.types.is_numeric_dtype(chosen["value"]):
        raise file.refuse("has values that are not numbers", "name the columns with --columns")
    return chosen


def _names(file: FeatureFile, names: list[str]) -> list[str]:
    """Which columns are the sample, the feature and, where there is one, the value."""
    import pandas as pd

    shown = ", ".join(names[:8])
    if given := list(file.reading.columns):
        for name in given:
            if name not in names:
                condition = f"is no column of {file.path}"
                raise InputError("columns", name, condition, f"there are {shown}")
        return given[:3]
    if names and np.isfinite(pd.to_numeric(pd.Series(names), errors="coerce")).all():
        raise file.refuse(f"starts with the numbers {shown} in place of names", "give it a line of names")
    lower = {name.lower(): name for name in reversed(names)}
    found = [next((lower[w] for w in words if w in lower), None) for words in NAMES.values()]
    if found[0] and found[1]:
        return [name for name in found if name is not None]
    if len(names) == 3:
        return names
    raise file.refuse(
        f"has the columns {shown}, and which is the sample is not clear",
        "give --columns sample,feature,value",
    )


def _tables(file: FeatureFile) -> Iterator[pd.DataFrame]:
    import pandas as pd

    if file.path.suffix.lower() == ".parquet":
        parquet = file.library("pyarrow", "parquet", "pyarrow.parquet")
        for batch in parquet.ParquetFile(file.path).iter_batches(batch_size=PART):
            yield batch.to_pandas()
        return
    separator = "\t" if ".tsv" in file.path.name.lower() else ","
    with (
        open_unpacked(file.path, lines=True) as opened,
        pd.read_csv(
            opened, sep=separator, chunksize=PART, encoding=file.reading.encoding, low_memory=False
        ) as tables,
    ):
        yield from tables
