"""Every item of the paper, made quickly. Slow: a minute in all."""

import json

import pytest

from sparselaw.experiments.paper.item import NAMES
from sparselaw.experiments.paper.reproduce import reproduce


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_item_is_made_and_made_again_from_what_was_kept(name, tmp_path):
    first = reproduce([name], out=tmp_path, quick=True)
    for row in first.items:
        assert row["verdict"] in {"agrees", "differs", "not comparable"}
        if row["measured"] is not None:
            assert row["measured"]["low"] <= row["measured"]["best"] <= row["measured"]["high"]
    for ending in ("svg", "png", "csv"):
        assert (tmp_path / f"{name}.{ending}").stat().st_size > 0
    picture = (tmp_path / f"{name}.svg").read_bytes()
    again = reproduce([name], out=tmp_path, quick=True)
    assert again.items == first.items
    assert (tmp_path / f"{name}.svg").read_bytes() == picture
    assert json.loads((tmp_path / "summary.json").read_text())["items"] == first.items
