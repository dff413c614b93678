"""One matrix in every format gives the same counts, sums of squares and rows."""

import gzip

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

import sparselaw as sl
from measuring.helpers import tensors
from sparselaw.measuring.readers.text_files import standard_library

MORE = "lorem ipsum.\nquick brown.\nfox jumps.\nover lazy.\nsphinx of.\nblack quartz\n"


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(1)
    dense = (rng.random((60, 12)) < np.geomspace(0.7, 0.05, 12)) * np.round(rng.standard_normal((60, 12)), 3)
    dense[~dense.any(axis=1), 3] = 0.125
    return dense


@pytest.fixture(scope="module")
def counted(matrix):
    return sl.measure(matrix).table


def check(found, matrix, order=None):
    """Counts and squares are those of the matrix, of the columns that occur."""
    columns = np.arange(matrix.shape[1]) if order is None else np.asarray(order)
    count = (matrix != 0).sum(axis=0)[columns]
    assert found.rows == len(matrix)
    assert found.table.column.tolist() == np.flatnonzero(count).tolist()
    assert found.table.count.tolist() == count[count > 0].tolist()
    np.testing.assert_allclose(found.table.squares, (matrix**2).sum(axis=0)[columns][count > 0], rtol=1e-13)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz(matrix, tmp_path, kind):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(matrix).asformat(kind))
    check(sl.measure(tmp_path / "x.npz"), matrix)


def test_npy(matrix, tmp_path):
    np.save(tmp_path / "x.npy", matrix.astype(np.float32).astype(float))
    found = sl.measure(tmp_path / "x.npy")
    assert found.table.count.tolist() == (matrix != 0).sum(axis=0).tolist()
    np.save(tmp_path / "f.npy", np.asfortranarray(matrix))
    check(sl.measure(str(tmp_path / "f.npy")), matrix)


def test_matrix_market(matrix, tmp_path):
    scipy_io.mmwrite(tmp_path / "x.mtx", sparse.coo_array(matrix))
    check(sl.measure(tmp_path / "x.mtx"), matrix)
    (tmp_path / "y.mtx.gz").write_bytes(gzip.compress((tmp_path / "x.mtx").read_bytes()))
    check(sl.measure(tmp_path / "y.mtx.gz"), matrix)
    scipy_io.mmwrite(tmp_path / "p.mtx", sparse.coo_array(matrix), field="pattern")
    check(sl.measure(tmp_path / "p.mtx"), (matrix != 0).astype(float))


def test_symmetric_matrix_market(tmp_path):
    rng = np.random.default_rng(0)
    half = np.triu((rng.random((30, 30)) < 0.1) * rng.standard_normal((30, 30)))
    both = half + np.triu(half, 1).T
    scipy_io.mmwrite(tmp_path / "x.mtx", sparse.coo_array(both), symmetry="symmetric")
    check(sl.measure(tmp_path / "x.mtx"), both)


def test_svmlight(matrix, tmp_path):
    lines = ["# made by hand"]
    for row in matrix:
        pairs = " ".join(f"{j}:{row[j]!r}" for j in np.flatnonzero(row))
        lines.append(
            f"1 qid:3 {pairs} # a comment with 3:4 in it".replace("np.float64(", "").replace(")", "")
        )
    (tmp_path / "x.svm").write_text("\n".join(lines) + "\n")
    check(sl.measure(tmp_path / "x.svm"), matrix)


def triplets(matrix):
    rows, columns = np.nonzero(matrix)
    return pd.DataFrame({"sample": rows, "feature": columns, "value": matrix[rows, columns]})


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_triplets(matrix, tmp_path, ending):
    table, path = triplets(matrix), tmp_path / f"x.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, sep="\t" if ending == "tsv" else ",", index=False)
    found = sl.measure(path)
    check(found, matrix, list(found.table.names))


def test_triplets_by_other_names_and_entries_given_twice(matrix, tmp_path):
    table = triplets(matrix).rename(columns={"sample": "who", "feature": "what", "value": "how"})
    table["what"] = "item " + table["what"].astype(str)
    halves = pd.concat([table, table]).sort_values("who", kind="stable")
    halves["how"] /= 2.0
    halves.assign(junk=1).to_csv(tmp_path / "x.csv", index=False)
    found = sl.measure(tmp_path / "x.csv", columns=("who", "what", "how"))
    check(found, matrix, [int(str(name)[5:]) for name in found.table.names])


def test_triplets_in_small_parts(matrix, tmp_path, monkeypatch):
    triplets(matrix).to_csv(tmp_path / "x.csv", index=False)
    for part in (3, 17):
        monkeypatch.setattr("sparselaw.measuring.readers.triplets.PART", part)
        found = sl.measure(tmp_path / "x.csv")
        check(found, matrix, list(found.table.names))


def test_transactions(matrix, tmp_path):
    lines = [" ".join(str(j) for j in np.flatnonzero(row)) + " " for row in matrix]
    (tmp_path / "x.dat").write_text("\n".join(lines))
    found = sl.measure(tmp_path / "x.dat")
    check(found, (matrix != 0).astype(float), [int(str(name)) for name in found.table.names])


def test_text(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("The cat, the mat.\n\nA cat sat\non it; the end\n\n" + MORE)
    words = sl.measure(path)
    assert words.rows == 3 + 6
    assert dict(zip(words.table.names[:8], words.table.count[:8], strict=True)) == {
        "the": 2, "cat": 2, "mat": 1, "a": 1, "sat": 1, "on": 1, "it": 1, "end": 1,
    }  # fmt: skip
    assert words.table.squares[0] == 5.0
    assert sl.measure(path, split="blank").rows == 2 + 1
    assert sl.measure(path, split="[.;]").rows == 3 + 5
    assert "The" in sl.measure(path, keep_case=True).table.names
    assert "the cat" in sl.measure(path, ngram=2).table.names
    assert "th" in sl.measure(path, tokens="characters", ngram=2).table.names
    assert set(sl.measure(path, pattern="[ct]h?|q[a-z]").table.names) == {"t", "th", "c", "qu"}
    path.write_bytes(("été à\nla plage l'été\n" + MORE).encode("latin-1"))
    assert "été" in sl.measure(path, encoding="latin-1").table.names


def test_the_standard_library_is_a_corpus():
    assert len(standard_library()) > 200
    json_modules = [path for path in standard_library() if path.parent.name == "json"]
    found = sl.measure(json_modules)
    names = dict(zip(found.table.names, found.table.count, strict=True))
    assert found.rows > 300
    assert names["return"] > 20
    assert not any(str(name).startswith("#") for name in names)


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_anndata(matrix, tmp_path, kind):
    h5py = pytest.importorskip("h5py", reason="h5ad files need h5py")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        if kind == "dense":
            file["X"] = matrix
        else:
            x = sparse.csr_array(matrix).asformat(kind)
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{kind}_matrix", matrix.shape
            group["data"], group["indices"], group["indptr"] = x.data, x.indices, x.indptr
    check(sl.measure(tmp_path / "x.h5ad"), matrix)


def test_safetensors(matrix, tmp_path):
    rows, columns = np.nonzero(matrix)
    value, by_rows = matrix[rows, columns], sparse.csr_array(matrix)
    order = np.argsort(-np.abs(matrix), axis=1)
    starts, indices = (a.astype(np.int64) for a in (by_rows.indptr, by_rows.indices))
    three = np.stack([rows // 6, rows % 6, columns], axis=1).astype(np.int32)
    for arrays in (
        {"acts": matrix},
        {"locations": np.stack([rows, columns], axis=1), "activations": value},
        {"locations": three, "activations": value},
        {"crow_indices": starts, "col_indices": indices, "values": by_rows.data},
        {"indices": order, "values": np.take_along_axis(matrix, order, axis=1)},
    ):
        path = tensors(tmp_path / "x", arrays, lambda contents: contents | {"__metadata__": {"by": "hand"}})
        check(sl.measure(path), matrix)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(sl.InputError, match="truncated"):
        sl.measure(path)
    with pytest.raises(sl.InputError, match="not clear"):
        sl.measure(tensors(tmp_path / "x", {"a": matrix, "b": matrix}))


def test_safetensors_of_half_precision(matrix, tmp_path):
    brain = (np.round(8.0 * matrix).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    path = tensors(tmp_path / "x", {"acts": brain}, lambda c: {"acts": c["acts"] | {"dtype": "BF16"}})
    exact = (brain.astype(np.uint32) << 16).view(np.float32).astype(float)
    check(sl.measure(path), exact)
