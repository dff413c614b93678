"""Writes the values of the self-test anew: ``python tests/doctor/store_values.py``.

Only where a number of the package was meant to change; the commit says why.
"""

from __future__ import annotations

import json
from pathlib import Path

import sparselaw.doctor
from sparselaw.doctor.self_test import CHECKS

if __name__ == "__main__":
    values = {name: compute() for name, compute in CHECKS.items()}
    file = Path(sparselaw.doctor.__file__).parent / "values.json"
    file.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
