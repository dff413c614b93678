"""Files counted by the workers of a Dask scheduler give the same."""

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
from measuring.helpers import assert_alike

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


def test_workers_of_a_scheduler_count_the_same(tmp_path):
    x = sparse.random_array((300, 80), density=0.05, rng=np.random.default_rng(0), format="csr")
    for i in range(3):
        sparse.save_npz(tmp_path / f"part-{i}.npz", x[100 * i : 100 * (i + 1)])
    settings = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "protocol": "tcp"}
    with distributed.LocalCluster(**settings, host="127.0.0.1", dashboard_address=None) as cluster:
        found = sl.measure(tmp_path, scheduler=cluster.scheduler_address)
    whole = sl.measure(x)
    assert_alike(found, whole)
