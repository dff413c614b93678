"""Tables of (sample, feature, value), CSV or Parquet: a line a nonzero.

Samples may be named by anything and are rows in the order in which they appear; so are features. Lines of a
sample must stand together, and a feature given twice in a sample is added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.errors import InputError
from sparselaw.files import open_unpacked
from sparselaw.measuring.nonzeros import PART, Nonzeros
from sparselaw.measuring.readers.base import Reader, Vocabulary

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "sample": ("sample", "row", "document", "doc", "user", "basket", "order", "cell", "barcode", "i", "id"),
    "feature": (
        "feature", "column", "col", "word", "token", "item", "product", "gene", "latent", "j", "index",
    ),
    "value": ("value", "count", "x", "data", "weight", "activation", "n"),
}  # fmt: skip


class TripletReader(Reader):
    name: ClassVar[str] = "triplets"
    endings: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
    worded: ClassVar[bool] = True

    def parts(self) -> Iterator[Nonzeros]:
        try:
            yield from self._grouped(self._tables())
        except _Scattered:
            raise self.refuse(
                "does not keep the lines of a sample together", "sort the table by its sample column"
            ) from None

    def _grouped(self, tables: Iterator[pd.DataFrame]) -> Iterator[Nonzeros]:
        import pandas as pd

        samples = Vocabulary()
        kept: pd.DataFrame | None = None  # lines of a sample that may go on
        for table in tables:
            joined = table if kept is None or kept.empty else pd.concat([kept, table], ignore_index=True)
            last = joined["sample"].iloc[-1]
            starts = int((joined["sample"] != last).to_numpy()[::-1].argmax())
            whole = len(joined) - starts if (joined["sample"] != last).any() else 0
            kept = joined.iloc[whole:]
            if len(kept) > PART:  # one sample with more lines than features: they are added up
                kept = kept.groupby(["sample", "feature"], sort=False, as_index=False)[["value"]].sum()
            if whole:
                yield self._part(joined.iloc[:whole], samples)
        if kept is not None and not kept.empty:
            yield self._part(kept, samples)

    def _part(self, table: pd.DataFrame, samples: Vocabulary) -> Nonzeros:
        known = len(samples)
        row = samples.columns_of_array(table["sample"].to_numpy())
        if row.min() < known:
            raise _Scattered
        column = self.vocabulary.columns_of_array(table["feature"].to_numpy())
        value = table["value"].to_numpy(np.float64)
        return Nonzeros(row, column, value, len(samples))

    def _tables(self) -> Iterator[pd.DataFrame]:
        parquet = self.path.suffix.lower() == ".parquet"
        for table in self._parquet() if parquet else self._text():
            found = self._columns([str(name) for name in table.columns])
            chosen = table[[name for name in found if name is not None]].copy()
            chosen.columns = ["sample", "feature", "value"][: chosen.shape[1]]
            if "value" not in chosen:
                chosen["value"] = 1.0
            yield self._checked(chosen)

    def _checked(self, table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        for name in ("sample", "feature"):
            column = table[name]
            if column.isna().any():
                at = int(column.isna().to_numpy().argmax())
                raise self.refuse(f"has no {name} in line {at + 2} of a part", f"drop lines without a {name}")
            if pd.api.types.is_numeric_dtype(column) and len(column) and column.min() < 0:
                raise InputError(
                    name,
                    int(column.min()),
                    f"is a negative index in {self.path}",
                    f"number each {name} from 0",
                )
        if not pd.api.types.is_numeric_dtype(table["value"]):
            raise self.refuse("has values that are not numbers", "name the columns with --columns")
        return table

    def _columns(self, names: list[str]) -> tuple[str, str, str | None]:
        if self.reading.columns:
            given = self.reading.columns
            for name in given:
                if name not in names:
                    raise InputError(
                        "columns", name, f"is no column of {self.path}", f"there are {', '.join(names[:8])}"
                    )
            return given[0], given[1], given[2] if len(given) > 2 else None
        if names and all(_is_number(name) for name in names):
            raise self.refuse(
                f"starts with the numbers {', '.join(names[:4])} in place of names", "give it a line of names"
            )
        lower = {name.lower(): name for name in reversed(names)}
        found = {
            role: next((lower[word] for word in words if word in lower), None)
            for role, words in NAMES.items()
        }
        if found["sample"] and found["feature"]:
            return found["sample"], found["feature"], found["value"]
        if len(names) == 3:
            return names[0], names[1], names[2]
        raise self.refuse(
            f"has the columns {', '.join(names[:8])}, and which is the sample is not clear",
            "give --columns sample,feature,value",
        )

    def _text(self) -> Iterator[pd.DataFrame]:
        import pandas as pd

        separator = "\t" if ".tsv" in self.path.name.lower() else ","
        with (
            open_unpacked(self.path, lines=True) as file,
            pd.read_csv(
                file, sep=separator, chunksize=PART, encoding=self.reading.encoding, low_memory=False
            ) as tables,
        ):
            yield from tables

    def _parquet(self) -> Iterator[pd.DataFrame]:
        from importlib import import_module
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            raise self.refuse("needs pyarrow", "pip install 'sparselaw[parquet]'")
        file = import_module("pyarrow.parquet").ParquetFile(self.path)
        for batch in file.iter_batches(batch_size=PART):
            yield batch.to_pandas()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Scattered(Exception):
    """A sample came again after others."""
