"""Small computations through every public function, each a name and a function that returns plain values.

Only names that scripts may rely on are used. What they returned before the house was rebuilt is in
values.json (written by record.py, compared by test_expected.py). Each kind of case has a file of its own.
"""

import failure_cases  # noqa: F401
import fit_cases  # noqa: F401
import plan_cases  # noqa: F401
import theory_cases  # noqa: F401
import trial_cases  # noqa: F401
from case_list import CASES

__all__ = ["CASES"]
