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
        import pandas as pd

        samples = Vocabulary()
        kept: pd.DataFrame | None = None  # lines of a sample that may go on
        for table in map(self._chosen, self._tables()):
            joined = table if kept is None else pd.concat([kept, table], ignore_index=True)
            others = (joined["sample"] != joined["sample"].iloc[-1]).to_numpy()
            whole = int(np.flatnonzero(others).max(initial=-1)) + 1
            kept = joined.iloc[whole:]
            if len(kept) > PART:  # one sample with more lines than features: they are added up
                kept = kept.groupby(["sample", "feature"], sort=False, as_index=False)[["value"]].sum()
            if whole:
                yield self._part(joined.iloc[:whole], samples)
        if kept is not None:
            yield self._part(kept, samples)

    def _part(self, table: pd.DataFrame, samples: Vocabulary) -> Nonzeros:
        known = len(samples)
        row = samples.columns_of_array(table["sample"].to_numpy())
        if row.min() < known:
            condition = "does not keep the lines of a sample together"
            raise self.refuse(condition, "sort the table by its sample column")
        column = self.vocabulary.columns_of_array(table["feature"].to_numpy())
        return Nonzeros(row, column, table["value"].to_numpy(np.float64), len(samples))

    def _chosen(self, table: pd.DataFrame) -> pd.DataFrame:
        """The columns sample, feature and value of a table, checked."""
        import pandas as pd

        table.columns = table.columns.map(str)
        names = self._names(list(table.columns))
        chosen = table[names].set_axis(["sample", "feature", "value"][: len(names)], axis=1)
        if "value" not in chosen:
            chosen["value"] = 1.0
        for name in ("sample", "feature"):
            column = chosen[name]
            if column.isna().any():
                at = int(column.isna().to_numpy().argmax())
                raise self.refuse(f"has no {name} in line {at + 2} of a part", f"drop lines without a {name}")
            if pd.api.types.is_numeric_dtype(column) and len(column) and column.min() < 0:
                condition = f"is a negative index in {self.path}"
                raise InputError(name, int(column.min()), condition, f"number each {name} from 0")
        if not pd.api.types.is_numeric_dtype(chosen["value"]):
            raise self.refuse("has values that are not numbers", "name the columns with --columns")
        return chosen

    def _names(self, names: list[str]) -> list[str]:
        """Which columns are the sample, the feature and, where there is one, the value."""
        import pandas as pd

        shown = ", ".join(names[:8])
        if given := list(self.reading.columns):
            for name in given:
                if name not in names:
                    condition = f"is no column of {self.path}"
                    raise InputError("columns", name, condition, f"there are {shown}")
            return given[:3]
        if names and np.isfinite(pd.to_numeric(pd.Series(names), errors="coerce")).all():
            raise self.refuse(f"starts with the numbers {shown} in place of names", "give it a line of names")
        lower = {name.lower(): name for name in reversed(names)}
        found = [next((lower[w] for w in words if w in lower), None) for words in NAMES.values()]
        if found[0] and found[1]:
            return [name for name in found if name is not None]
        if len(names) == 3:
            return names
        raise self.refuse(
            f"has the columns {shown}, and which is the sample is not clear",
            "give --columns sample,feature,value",
        )

    def _tables(self) -> Iterator[pd.DataFrame]:
        import pandas as pd

        if self.path.suffix.lower() == ".parquet":
            parquet = self.library("pyarrow", "parquet", "pyarrow.parquet")
            for batch in parquet.ParquetFile(self.path).iter_batches(batch_size=PART):
                yield batch.to_pandas()
            return
        separator = "\t" if ".tsv" in self.path.name.lower() else ","
        with (
            open_unpacked(self.path, lines=True) as file,
            pd.read_csv(
                file, sep=separator, chunksize=PART, encoding=self.reading.encoding, low_memory=False
            ) as tables,
        ):
            yield from tables
