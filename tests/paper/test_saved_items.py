"""Values kept in files: computed once, again where the file makes no sense, never half written."""

import json

import pytest

from sparselaw.experiments.paper.reproduce import remember


class Counted:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return {"x": [1.5, 2], "far": float("inf")}


def read(value):
    return {"x": [float(v) for v in value["x"]], "far": value["far"]}


def test_results_are_kept_and_taken_from_the_folder(tmp_path):
    compute = Counted()
    for _ in range(2):
        assert remember(tmp_path, "thing", {"a": 1}, compute, read) == {"x": [1.5, 2.0], "far": float("inf")}
    assert compute.calls == 1
    remember(tmp_path, "thing", {"a": 2}, compute, read)
    assert compute.calls == 2
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[]", b'{"x": 3}', b'{"x": [1, "a"]}', b"\xff\xfe"])
def test_what_cannot_be_read_is_computed_again(tmp_path, content):
    compute = Counted()
    first = remember(tmp_path, "thing", {}, compute, read)
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert remember(tmp_path, "thing", {}, compute, read) == first
    assert compute.calls == 2
    assert json.loads(path.read_text())["x"] == [1.5, 2]


def test_a_computation_that_fails_leaves_nothing(tmp_path):
    def compute():
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        remember(tmp_path, "thing", {}, compute, read)
    assert list(tmp_path.iterdir()) == []
