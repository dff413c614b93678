"""Files that lie: what they say of themselves is checked, and memory asked for before it is taken."""

import gzip
import io
import json
import resource
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import sparselaw as sl
from measuring.helpers import tensors
from sparselaw.errors import InputError
from sparselaw.files import limited_to

h5py = pytest.importorskip("h5py", reason="the extra h5ad is not installed")

GIB = 1 << 30


def measured(path, *options, memory=3 * GIB, command="measure"):
    """The command in a process that may not have more memory than this."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    done = subprocess.run(
        [sys.executable, "-m", "sparselaw", command, str(path), *options],
        capture_output=True, text=True, preexec_fn=limit, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2), done.stderr
    assert done.stderr.count("\n") <= 1 or done.returncode == 0
    return done


def far_svmlight(path):
    lines = [f"1 {j % 7}:1 {j % 5 + 20}:1" for j in range(50)]
    path = path.with_suffix(".svm")
    path.write_text("\n".join([*lines, "1 2000000000:1"]) + "\n")
    return path


def wide_mtx(path):
    path = path.with_suffix(".mtx")
    entries = "".join(f"{i % 40 + 1} {i % 9 * 10**8 + 1} 1\n" for i in range(200))
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 200\n{entries}")
    return path


def wide_npz(path):
    a = {"indptr": np.arange(0, 41), "indices": np.arange(40) % 9 * 10**8, "data": np.ones(40)}
    path = path.with_suffix(".npz")
    np.savez(path, format=np.array(b"csr"), shape=np.array([40, 2 * 10**9]), **a)
    return path


def far_locations(path):
    where = np.array([[i % 40 * 10**9, i % 9 * 10**8] for i in range(200)], np.int64)
    return tensors(path, {"locations": where, "activations": np.ones(200)})


@pytest.mark.parametrize("make", [far_svmlight, wide_mtx, wide_npz, far_locations])
def test_memory_is_for_columns_that_occur(make, tmp_path):
    path = make(tmp_path / "x")
    done = measured(path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seen"] <= 13
    if make is wide_mtx:  # once they are read, files are alike
        measured(path, command="learn")  # an answer, or a refusal of too many rows


def packed_line(path):
    path = path.with_suffix(".csv.gz")
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"7" * (1 << 20))
    return path


def packed_rows(path):
    path = path.with_suffix(".csv.gz")
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"sample,feature,value\n")
        for _ in range(25):
            file.write(b"1,2,3\n" * (1 << 18))
    return path


def promised_cells(path):
    path = path.with_suffix(".h5ad")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    return path


def promised_row(path):
    path = path.with_suffix(".h5ad")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(3, 10**11), chunks=(1, 10**6), dtype="f8")
    return path


def promised_array(path):
    """An .npz whose header promises more than there is."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    path = path.with_suffix(".npz")
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in (("format", np.array(b"csr")), ("shape", np.array([10, 10]))):
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(f"{name}.npy", content.getvalue())
        for name in ("indptr", "indices", "data"):
            archive.writestr(f"{name}.npy", header.getvalue())
    return path


def packed_zeros(path):
    a = {"indptr": np.zeros(10**7 + 1, np.int64), "indices": np.zeros(0, np.int64), "data": np.zeros(0)}
    np.savez_compressed(path.with_suffix(".npz"), format=b"csr", shape=[10**7, 5], **a)
    return path.with_suffix(".npz")


def empty_tensor(path):
    def header(_contents):
        return {"x": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 0]}}

    return tensors(path, {"x": np.zeros(2)}, header)


@pytest.mark.parametrize(
    "make",
    [packed_line, packed_rows, promised_cells, promised_row, promised_array, packed_zeros, empty_tensor],
)
def test_memory_is_asked_for_before_it_is_taken(make, tmp_path):
    done = measured(make(tmp_path / "x"), "--max-size", "32MB", memory=2 * GIB)
    assert done.returncode == 2
    if make not in (promised_array, empty_tensor):
        assert "--max-size" in done.stderr


def test_text_without_a_line_break(tmp_path):
    path = tmp_path / "x.txt"
    with path.open("wb") as file:
        for _ in range(7):
            file.write(b"word " * (1 << 18))
    assert "--max-size" in measured(path, "--max-size", "32MB", memory=2 * GIB).stderr
    for split in ("file", "blank", "x+y"):
        with pytest.raises(InputError, match="--max-size"):
            sl.measure(path, split=split, max_size=32 << 20)


def test_the_option_raises_the_limit(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("\n".join(f"a{i} b{i % 3} c{i % 7} d" for i in range(100)))
    assert measured(path, "--split", "file", "--max-size", "1kB").returncode == 2
    assert measured(path, "--max-size", "100kB").returncode == 0
    with pytest.raises(InputError, match="a document needs"), limited_to(1 << 10):
        sl.measure(path, split="file")
    with pytest.raises(InputError, match="a document needs"):
        sl.measure(path, split="file", max_size=1 << 10)


ODD_HEADERS = [
    lambda _: [], lambda _: 3, lambda _: "x", lambda _: None, lambda _: {"x": 3}, lambda _: {"x": None},
    lambda _: {"x": []}, lambda _: {"x": {}}, lambda c: {"x": c["x"] | {"dtype": 4}},
    lambda c: {"x": c["x"] | {"dtype": ["F32"]}}, lambda c: {"x": c["x"] | {"dtype": "F99"}},
    lambda c: {"x": c["x"] | {"shape": 4}}, lambda c: {"x": c["x"] | {"shape": "ab"}},
    lambda c: {"x": c["x"] | {"shape": [-1, 4]}}, lambda c: {"x": c["x"] | {"shape": [2.0, 4.0]}},
    lambda c: {"x": c["x"] | {"shape": [True, 4]}}, lambda c: {"x": c["x"] | {"shape": [None]}},
    lambda c: {"x": c["x"] | {"data_offsets": 1}}, lambda c: {"x": c["x"] | {"data_offsets": [0]}},
    lambda c: {"x": c["x"] | {"data_offsets": [8, 0]}}, lambda c: {"x": c["x"] | {"data_offsets": ["a", 2]}},
    lambda c: {"x": c["x"] | {"data_offsets": {"a": 1}}},
    lambda c: {"x": c["x"] | {"data_offsets": [0, 10**30]}},
    lambda c: {"x": c["x"] | {"data_offsets": [-8, 0]}}, lambda _: {"__metadata__": 3},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ODD_HEADERS)))
def test_headers_of_another_type(number, tmp_path):
    path = tensors(tmp_path / "x", {"x": np.eye(6)}, ODD_HEADERS[number])
    with pytest.raises(InputError):
        sl.measure(path)


def test_tensors_that_share_their_numbers_or_their_name(tmp_path):
    header = {"x": {"dtype": "F64", "shape": [6, 6], "data_offsets": [0, 288]}}
    small = {"dtype": "F64", "shape": [3, 6], "data_offsets": [0, 144]}
    for text in (
        json.dumps(header | {"y": small}),
        json.dumps(header)[:-1] + f', "x": {json.dumps(small)}}}',
    ):
        path = tmp_path / "x.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text.encode() + np.eye(6).tobytes())
        with pytest.raises(InputError, match="do not fill it"):
            sl.measure(path)


def nested(depth=100_000):
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize("text", [nested(), b'{"x":' * 50_000 + b"1" + b"}" * 50_000])
def test_deeply_nested_headers(text, tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(InputError):
        sl.measure(path)


def in_x(value):
    return lambda file: file.__setitem__("X", value)


def group_x(shape=(2, 3), kind="csr_matrix", size=2):
    """Compressed rows of these attributes."""

    def make(file):
        group = file.create_group("X")
        group.attrs["shape"], group.attrs["encoding-type"] = shape, kind
        group["data"], group["indices"], group["indptr"] = np.ones(size), np.arange(size), np.arange(size + 1)

    return make


def looped_group(file):
    group = file.create_group("X")
    group.attrs["shape"] = np.array([9, 9])
    for name in ("data", "indices", "indptr"):
        group[name] = group


def numbers_elsewhere(file):
    """The numbers are those of another file, whatever that is."""
    file.create_dataset("X", shape=(9, 9), dtype="u1", external=[("/etc/passwd", 0, 81)])


def views_elsewhere(file):
    layout = h5py.VirtualLayout(shape=(9, 9), dtype="f8")
    layout[:] = h5py.VirtualSource("other.h5", "X", shape=(9, 9))
    file.create_virtual_dataset("X", layout)


ODD_X = {
    "a number": in_x(3.0), "a list": in_x(np.arange(9.0)), "three dimensions": in_x(np.zeros((3, 3, 3))),
    "nothing": lambda file: file.__setitem__("Y", np.zeros((3, 3))), "empty": in_x(h5py.Empty("f8")),
    "an empty group": lambda file: file.create_group("X"), "a loop": in_x(h5py.SoftLink("/X")),
    "a looped group": looped_group, "another file": in_x(h5py.ExternalLink("other.h5", "/X")),
    "words": in_x(np.array([[b"a", b"b"]] * 9)), "an odd shape": group_x(shape="nine"),
    "an odd kind": group_x(kind=np.arange(4)), "another kind": group_x((9, 9), "coo_matrix", 9),
    "numbers elsewhere": numbers_elsewhere, "views elsewhere": views_elsewhere,
}  # fmt: skip


@pytest.mark.parametrize("made", ODD_X)
def test_h5ad_of_another_form(made, tmp_path):
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        ODD_X[made](file)
    with pytest.raises(InputError):
        sl.measure(tmp_path / "x.h5ad")


def test_h5ad_of_the_right_form(tmp_path):
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        group_x((9, 9), size=9)(file)
    assert sl.measure(tmp_path / "x.h5ad").nonzeros == 9


@pytest.mark.parametrize(
    "arrays",
    [
        {"format": np.array(3), "shape": np.array([3, 3])},
        {"format": np.array("xyz"), "shape": np.array([3, 3])},
        {"format": np.array(["csr", "csc"]), "shape": np.array([3, 3])},
        {"format": np.array("csr"), "shape": np.array(3)},
        {"format": np.array("csr"), "shape": np.array([3.0, 3.0])},
        {"format": np.array("csr"), "shape": np.array([3, 3])},
        {"format": np.array("csr"), "shape": np.array(["a", "b"])},
        {"format": np.array("dia"), "shape": np.array([3, 3]), "data": np.eye(3), "offsets": np.arange(2)},
        {"format": np.array("bsr"), "shape": np.array([3, 3]), "data": np.ones((1, 2, 2)),
         "indptr": np.arange(3), "indices": np.array([7])},
        {"format": np.array("coo"), "shape": np.array([3, 3]), "row": np.array([0, 9]),
         "col": np.array([0, 1]), "data": np.ones(2)},
        {"format": np.array("coo"), "shape": np.array([3, 3]), "row": np.array([0]), "col": np.array([0, 1]),
         "data": np.ones(2)},
        {"other": np.eye(3)},
    ],
)  # fmt: skip
def test_npz_of_another_form(arrays, tmp_path):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(InputError):
        sl.measure(tmp_path / "x.npz")


def test_coordinates_that_are_not_equally_many(tmp_path):
    arrays = {"row": np.arange(80) % 70, "col": np.arange(80) % 9, "data": np.ones(79)}
    np.savez(tmp_path / "x.npz", format=np.array("coo"), shape=np.array([70, 9]), **arrays)
    for ask in (sl.measure, sl.learn):
        with pytest.raises(InputError, match="same length"):
            ask(tmp_path / "x.npz")


def test_a_row_far_out(tmp_path):
    """Of 2^40 rows hardly one has an entry: the ends of intervals are larger than a number can hold."""
    place = np.arange(200)
    where = np.stack([np.where(place == 0, 2**40, place // 3), place % 9], axis=1)
    found = sl.measure(tensors(tmp_path / "x", {"locations": where, "activations": 1.0 + place % 2}))
    assert found.rows == 2**40 + 1


@pytest.mark.filterwarnings("error")
def test_a_table_whose_sizes_have_no_product(tmp_path):
    head = io.BytesIO()
    shape = (10**10, 10**10)
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": shape})
    (tmp_path / "x.npy").write_bytes(head.getvalue() + bytes(64))
    with pytest.raises(InputError):
        sl.measure(tmp_path / "x.npy")


def test_pickles_are_not_opened(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "x.npz", format=np.array({}, dtype=object), shape=np.array([3, 3]))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(InputError):
            sl.measure(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.svm", "1 nan:1\n"), ("x.svm", "1 1e300:1\n"), ("x.svm", "1 inf:2 3:4\n"), ("x.svm", "1 -1:2\n"),
        ("x.svm", "1 1.5:2\n"), ("x.svm", "3:1 4:1\n"), ("x.svm", "1 1_0:2\n"), ("x.svm", "1 2:nan\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1 1 1 5\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate complex general\n9 9 1\n1 1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 0\n1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n1_0 9 1\n1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1.5 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n-9 9 1\n1 1 1\n"),
        ("x.mtx", f"%%MatrixMarket matrix coordinate real general\n{10**30} 9 1\n1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1 99999999999999999999 1\n"),
        ("x.csv", "sample,feature,value\n1,2,3\n1,2\n\n,,\n"), ("x.csv", ""), ("x.csv", "\n\n\n"),
        ("x.csv", "a,a,a\n1,2,3\n"), ("x.csv", 'sample,feature\n"1,2\n'),
        ("x.csv", "sample,feature,value\n1,2,x\n"),
        ("x.txt", ""), ("x.txt", "a\n"), ("x.txt", "a\nb\n"), ("x.dat", "\n\n"),
        ("x.py", "def f(:\n"), ("x.py", "'"),
    ],
)  # fmt: skip
def test_text_that_is_wrong(name, text, tmp_path, recwarn):
    (tmp_path / name).write_text(text)
    for ask in (sl.measure, sl.learn):
        with pytest.raises(InputError) as refused:
            ask(tmp_path / name)
        assert "\n" not in str(refused.value)
    assert not recwarn.list


@pytest.mark.parametrize("encoding", ["zlib", "hex", "base64", "rot13", "no-such", "", "\udcff", "x" * 999])
@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.dat"])
def test_encodings_that_are_none(encoding, name, tmp_path):
    (tmp_path / name).write_text("a b\nc d\n")
    with pytest.raises(InputError, match="is no encoding of text"):
        sl.measure(tmp_path / name, encoding=encoding)


@pytest.mark.parametrize("cut", [1, 10, 20, 30, -1])
@pytest.mark.parametrize("name", ["x.txt.gz", "x.svm.gz", "x.csv.gz", "x.mtx.gz", "x.dat.gz"])
def test_damaged_gz(name, cut, tmp_path):
    content = gzip.compress(b"sample,feature,value\n" + b"1,2,3\n" * 50)
    (tmp_path / name).write_bytes(content[:cut])
    with pytest.raises(InputError):
        sl.measure(tmp_path / name)
    (tmp_path / name).write_bytes(content[:15] + b"\xff\xff" + content[17:])
    with pytest.raises(InputError):
        sl.measure(tmp_path / name)


def test_nested_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    lists = pyarrow.array([[1, 2], [3]])
    records = pyarrow.array([{"a": 1}, {"a": 2}])
    for columns in ({"sample": lists, "feature": [1, 2]}, {"sample": [1, 2], "feature": records},
                    {"sample": [1, 2], "feature": [1, 2], "value": lists}):  # fmt: skip
        parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
        with pytest.raises(InputError):
            sl.measure(tmp_path / "x.parquet")
