"""Two measurements that say the same: words and counts exactly, other numbers to rounding."""

import math


def assert_alike(one, two):
    for found, other in zip(leaves(one.as_dict()), leaves(two.as_dict()), strict=True):
        if isinstance(found, float) and isinstance(other, float):
            assert math.isclose(found, other, rel_tol=1e-9, abs_tol=1e-12), (found, other)
        else:
            assert found == other


def leaves(value):
    """The values of a record in order, without the source and the table of single features."""
    if isinstance(value, dict):
        inside = [value[name] for name in sorted(value) if name not in ("source", "table")]
        return [leaf for part in inside for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]
