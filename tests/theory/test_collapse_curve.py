"""S(xi) in one pass is S(xi) one by one."""

import numpy as np
import pytest

from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.theory import scaling_function
from sparselaw.theory.collapse_curve import scaling_values


@pytest.mark.parametrize(
    "inputs",
    [
        SparseInputs(alpha1=1.0, alpha2=0.3),
        SparseInputs(alpha1=0.3, alpha2=0.2),
        SparseInputs(alpha1=2.0, alpha2=-1.5),
        SparseInputs(alpha1=-0.5, alpha2=1.0),
        DenseInputs(alpha=2.3),
    ],
)
def test_one_pass_is_one_by_one(inputs):
    xi = np.append(np.geomspace(0.05, 30.0, 9), inputs.exponents.xi_crit)
    found = scaling_values(inputs, xi)
    assert found == pytest.approx([scaling_function(inputs, float(x)) for x in xi], rel=1e-6)
    assert np.isinf(found[-1])
