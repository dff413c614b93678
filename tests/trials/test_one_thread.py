"""The limit of threads belongs to the process: nobody takes it from somebody who is still inside."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparselaw.trials.run import one_thread


def threads():
    np.linalg.eigh(np.eye(3))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _several_threads():
    with threadpool_limits(3, user_api="blas"):
        yield


def test_inside_there_is_one_thread_and_afterwards_as_many_as_before():
    with one_thread():
        assert threads() == {1}
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {3}


def test_an_error_inside_gives_the_threads_back():
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == {3}


def test_another_thread_waits_its_turn():
    came_in = threading.Event()

    def enter():
        with one_thread():
            came_in.set()

    other = threading.Thread(target=enter)
    with one_thread():
        other.start()
        assert not came_in.wait(0.05)
    other.join()
    assert came_in.is_set()
