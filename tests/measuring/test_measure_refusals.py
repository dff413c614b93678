"""What cannot be measured is refused in one line, with exit code 2."""

import gzip
import os
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

import sparselaw as sl
from sparselaw.cli import main

GOOD = sparse.random_array((200, 50), density=0.05, rng=np.random.default_rng(0), format="csr")


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["measure", *map(str, arguments)])
    streams = capsys.readouterr()
    assert stop.value.code == 2, streams.err
    assert streams.out == ""
    lines = streams.err.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("sparselaw: error: ")
    assert ";" in lines[0]
    return lines[0]


def truncated(path, share=0.6):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    return path


def test_truncated_files(tmp_path, capsys):
    for name in ("x.npz", "x.npy", "x.mtx", "x.mtx.gz", "x.parquet", "x.csv.gz"):
        path = tmp_path / name
        if name == "x.npz":
            sparse.save_npz(path, GOOD)
        elif name == "x.npy":
            np.save(path, GOOD.toarray())
        elif name == "x.parquet":
            pd.DataFrame({"sample": [1, 2], "feature": [1, 2], "value": [1.0, 2.0]}).to_parquet(path)
        elif name == "x.csv.gz":
            path.write_bytes(gzip.compress(b"sample,feature,value\n" + b"1,2,3\n" * 2000))
        else:
            scipy_io.mmwrite(tmp_path / "plain.mtx", GOOD)
            data = (tmp_path / "plain.mtx").read_bytes()
            path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        assert str(path) in refused(capsys, truncated(path))


def test_dense_by_mistake(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((50, 20)))
    assert "dense" in refused(capsys, tmp_path / "x.npy")
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")
    assert "dense" in refused(capsys, tmp_path / "x.mtx")


def test_bad_entries(tmp_path, capsys):
    bad = GOOD.copy()
    bad.data[3] = np.nan
    sparse.save_npz(tmp_path / "x.npz", bad)
    assert "value=nan" in refused(capsys, tmp_path / "x.npz")
    bad.data[3] = 1e200
    sparse.save_npz(tmp_path / "x.npz", bad)
    assert "value=1e+200" in refused(capsys, tmp_path / "x.npz")


MTX = "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 3\n"


@pytest.mark.parametrize(
    ("ending", "text", "said"),
    [
        ("svm", "1 2:1 3:1\n1 -4:1 3:1\n", "negative"), ("svm", "1 2:1 3\n", "index:value"),
        ("svm", "1 2:1\n3:1\n", "line 2 of data has no label"), ("dat", "1 2 3\n-4 5\n", "negative"),
        ("csv", "sample,feature,value\n0,1,2\n0,-1,2\n1,1,1\n", "negative"),
        ("csv", "sample,feature,value\n0,1,2\n1,1,1\n0,2,2\n", "together"),
        ("csv", "sample,feature,value\n0,1,2\n1,1,\n1,2,2\n", "value=nan"),
        ("csv", "0,1,2\n0,3,2\n1,1,1\n", "names"), ("mtx", MTX, "count from 1"),
    ],
)  # fmt: skip
def test_bad_lines(ending, text, said, tmp_path, capsys):
    path = tmp_path / f"x.{ending}"
    path.write_text(text)
    assert said in refused(capsys, path)


def test_too_little(tmp_path, capsys):
    for shape, word in (
        ((0, 5), "no rows"),
        ((1, 5), "one row"),
        ((9, 1), "one feature"),
        ((9, 5), "not zero"),
    ):
        matrix = sparse.lil_array(shape)
        if word in ("one row", "one feature"):
            matrix[0, 0] = 1.0
        sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(matrix))
        assert word in refused(capsys, tmp_path / "x.npz")
    sparse.save_npz(tmp_path / "x.npz", GOOD)
    assert "threshold" in refused(capsys, tmp_path / "x.npz", "--threshold", "1e6")


def test_text_in_an_unknown_encoding(tmp_path, capsys):
    (tmp_path / "x.txt").write_bytes(b"fine\n\xff\xfe\xe9t\xe9\n")
    assert "--encoding" in refused(capsys, tmp_path / "x.txt")
    assert "encoding=klingon" in refused(capsys, tmp_path / "x.txt", "--encoding", "klingon")
    assert "pattern=(" in refused(capsys, tmp_path / "x.txt", "--pattern", "(")


def test_what_is_not_there(tmp_path, capsys):
    assert "does not exist" in refused(capsys, tmp_path / "nothing.npz")
    assert "folder without" in refused(capsys, tmp_path)
    (tmp_path / "x.what").write_text("1")
    assert "--format" in refused(capsys, tmp_path / "x.what")
    assert "format=what" in refused(capsys, tmp_path / "x.what", "--format", "what")
    sparse.save_npz(tmp_path / "x.npz", GOOD)
    assert "half of the 200 rows" in refused(capsys, tmp_path / "x.npz", "-D", "150")
    assert "threshold" in refused(capsys, tmp_path / "x.npz", "--threshold", "-1")
    assert "log1p" in refused(capsys, tmp_path / "x.npz", "--log1p", "--binary")
    np.savez(tmp_path / "y.npz", a=np.ones(3))
    assert "scipy" in refused(capsys, tmp_path / "y.npz")


def test_shards_of_different_features(tmp_path, capsys):
    sparse.save_npz(tmp_path / "a.npz", GOOD)
    sparse.save_npz(tmp_path / "b.npz", GOOD[:, :40])
    assert "40 features" in refused(capsys, tmp_path)


def test_matrices_that_are_none():
    for what in (3, np.ones(4), np.ones((2, 2, 2)), np.array([["a", "b"], ["c", "d"]]), [1, 2]):
        with pytest.raises(sl.InputError):
            sl.measure(what)
    with warnings.catch_warnings(), pytest.raises(sl.InputError, match="complex"):
        sl.measure(GOOD * 1j)


@pytest.mark.parametrize("rows", [1, 2])
def test_too_few_rows(rows):
    with pytest.raises(sl.InputError, match="too few"):
        sl.measure(np.eye(rows, 5))
    assert sl.measure(np.eye(3, 5)).rows == 3


def test_a_folder_that_may_not_be_read_is_not_left_out(tmp_path, monkeypatch):
    """Permissions do not stop the administrator, so that the system's answer is put in its place."""
    (tmp_path / "a").mkdir()
    (tmp_path / "locked").mkdir()
    (tmp_path / "a" / "x.txt").write_text("a b\nb c\nc d\nd e\n")
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(sl.InputError, match=r"locked: may not be read \(Permission denied\)"):
        sl.measure(tmp_path)


def test_rows_to_test_on_without_an_entry(tmp_path):
    """Three nonzeros in a hundred rows: most draws of rows to test on hold none of them."""
    (tmp_path / "x.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n100 50 3\n1 1 1.0\n2 2 1.0\n3 3 2.0\n"
    )
    with pytest.raises(sl.InputError, match="without an entry that is not zero"):
        sl.learn(tmp_path / "x.mtx")
