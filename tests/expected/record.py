"""Pin values anew: ``python tests/expected/record.py [pattern]``. Only where numbers are meant to change."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comparing import differences
from threadpoolctl import threadpool_limits

FILE = Path(__file__).with_name("values.json")


def measure(name: str) -> Any:
    """The values of one case as they are written, computed with one BLAS thread."""
    import scipy.linalg  # noqa: F401
    from cases import CASES

    with threadpool_limits(1):
        return encode(CASES[name]())


def encode(value: Any) -> Any:
    """Floats as exact text ("0x1.8p+0", "inf", "nan"); whole numbers, text and None as they are."""
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else str(value)
    assert value is None or isinstance(value, (bool, int, str)), value
    return value


def main(pattern: str = "") -> None:
    """Record the cases whose name matches; a value that is still close enough keeps its pinned digits."""
    from cases import CASES

    pinned = json.loads(FILE.read_text(encoding="ascii"))
    values, changed = {}, []
    for name in CASES:
        values[name] = pinned.get(name)
        if name not in pinned or re.search(pattern, name):
            now = measure(name)
            if name not in pinned or list(differences(now, pinned[name], name)):
                values[name] = now
                changed.append(name)
    lines = [f"{json.dumps(name)}:{json.dumps(values[name], **COMPACT)}" for name in sorted(values)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")
    print("\n".join(changed) or "nothing changed")


COMPACT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}

if __name__ == "__main__":
    main(*sys.argv[1:])
