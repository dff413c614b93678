"""Values kept in files: computed once, again where the file is not what was written, never half written."""

import math

import pytest

from sparselaw.experiments.paper.reproduce import remember


class Counted:
    def __init__(self):
        self.calls = []

    def __call__(self, cell):
        self.calls.append(cell)
        return [1.5 * cell, math.inf]


def test_results_are_kept_and_taken_from_the_folder(tmp_path):
    compute = Counted()
    for _ in range(2):
        assert remember(tmp_path, map, "thing", compute, [1, 2]) == [[1.5, math.inf], [3.0, math.inf]]
    assert compute.calls == [2, 1]  # the last first
    remember(tmp_path, map, "thing", compute, [1, 3])
    assert compute.calls == [2, 1, 3, 1]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("wrong", [b"", b"{", b"null", b"[]", b'{"values": [[1.5]]}', b"\xff\xfe", 3.0])
def test_what_was_changed_is_computed_again(tmp_path, wrong):
    compute = Counted()
    first = remember(tmp_path, map, "thing", compute, [1])
    (path,) = tmp_path.iterdir()
    written = path.read_bytes()
    path.write_bytes(written.replace(b"1.5", b"1.6") if wrong == 3.0 else wrong)
    assert remember(tmp_path, map, "thing", compute, [1]) == first
    assert len(compute.calls) == 2
    assert path.read_bytes() == written


def test_a_computation_that_fails_leaves_nothing(tmp_path):
    def compute(_):
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        remember(tmp_path, map, "thing", compute, [1])
    assert list(tmp_path.iterdir()) == []
