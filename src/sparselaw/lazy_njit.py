"""Loops that numba compiles, loaded only once there is enough for them to do.

To load numba, and the machine code that it keeps on disk, takes half a second of work; a small trial takes a
millisecond. So numba is loaded by the first call and not by the import, and a program runs its first few
small calls as the plain Python that they are: as many as take about a fifth of that time. Both ways do the
same operations in the same order and give the same bits.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

FREE_STEPS = 100_000  # of a loop in plain Python, in one process, at about a microsecond each


class Kernel:
    """A function of arrays and numbers, compiled when it is first called."""

    _steps_left = FREE_STEPS
    _loaded = False

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self.fast(*args)

    def after(self, steps: float) -> Callable[..., Any]:
        """The way to run a call of so many steps, about: plain, while the program has free ones left."""
        if Kernel._loaded or steps > Kernel._steps_left:
            return self.fast
        Kernel._steps_left -= int(steps)
        return self.plain

    @cached_property
    def fast(self) -> Callable[..., Any]:
        from sparselaw.compiled import njit

        Kernel._loaded = True
        compiled: Callable[..., Any] = njit(**self._options)(self._with_helpers("fast"))
        return compiled

    @cached_property
    def plain(self) -> Callable[..., Any]:
        return self._with_helpers("plain")

    def _with_helpers(self, way: str) -> Callable[..., Any]:
        """The function, with the kernels that it calls itself taken the same way."""
        function = self._function
        assert isinstance(function, types.FunctionType)
        seen = function.__globals__
        called = {
            name: seen[name] for name in function.__code__.co_names if isinstance(seen.get(name), Kernel)
        }
        if not called:
            return function
        helpers = {name: getattr(kernel, way) for name, kernel in called.items()}
        bound = types.FunctionType(function.__code__, {**seen, **helpers}, function.__name__)
        bound.__module__, bound.__qualname__ = function.__module__, function.__qualname__
        return bound


def lazy_njit(**options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """As ``sparselaw.compiled.njit``, with the same options."""
    return lambda function: Kernel(function, options)
