"""``sl.explore()``: in a notebook the widget, elsewhere the page in the browser."""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlencode

from sparselaw.errors import InputError


def explore(**state: Any) -> Any:
    """Open the page: in a notebook as a widget, elsewhere in the browser until Ctrl-C.

    ``state`` is what to begin with, by the names in the page's address: ``explore(alpha1=0.5,
    view="surface")``.
    """
    if in_notebook():
        try:
            from sparselaw.explore.widget import Explorer
        except ImportError:
            raise InputError(
                "explore", "", "needs anywidget in a notebook", "pip install 'sparselaw[jupyter]'"
            ) from None
        return Explorer(**state)
    from sparselaw.explore.serve import serve

    return serve(query=f"?{urlencode(state)}" if state else "")


def in_notebook() -> bool:
    """Whether a kernel runs this, and can show a widget."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")
