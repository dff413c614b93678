"""Rewrites values.json: ``python tests/expected/record.py``. Only where numbers are meant to change."""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

FILE = Path(__file__).with_name("values.json")


def fingerprint() -> dict[str, Any]:
    """What the last bits may depend on: versions, BLAS kernels, and the processor that numba writes for."""
    import llvmlite.binding
    import numba
    import numpy
    import scipy
    import scipy.linalg  # its BLAS must be loaded to be found

    libraries = {
        f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}"
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    }
    return {
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "processor": numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name(),
        "blas": sorted(libraries),
    }


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


def main() -> None:
    from cases import CASES

    values, seconds = {}, {}
    for name in CASES:
        start = time.perf_counter()
        values[name] = measure(name)
        seconds[name] = time.perf_counter() - start
    lines = [f"{json.dumps(name)}:{json.dumps(values[name], **COMPACT)}" for name in sorted(values)]
    head = json.dumps(fingerprint(), **COMPACT)
    body = ",\n".join(lines)
    FILE.write_text(f'{{"environment":{head},\n"values":{{\n{body}\n}}}}\n', encoding="ascii")
    slow = sorted(seconds, key=lambda name: -seconds[name])[:8]
    print(f"{len(values)} cases in {sum(seconds.values()):.1f} s, {FILE.stat().st_size / 1024:.0f} KiB")
    print("slowest:", ", ".join(f"{name} {seconds[name]:.2f} s" for name in slow), file=sys.stderr)


COMPACT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}

if __name__ == "__main__":
    main()
