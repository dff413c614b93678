"""`sparselaw explore`: the local page."""

from __future__ import annotations

import typer

from sparselaw import numbers
from sparselaw.cli.options import INTEGER
from sparselaw.cli.output import note
from sparselaw.errors import InputError


def explore(
    host: str = typer.Option(
        "127.0.0.1", metavar="ADDRESS", help="Where to listen: this machine alone, unless told otherwise."
    ),
    port: str = typer.Option("0", metavar=INTEGER, help="Port; 0 takes a free one."),
    no_browser: bool = typer.Option(False, "--no-browser", help="Only print the address."),
) -> None:
    """The local page: drag sparsity, see exponents and loss answer.

    Ends with Ctrl-C.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise InputError(
            "explore",
            "",
            "needs two small packages that are not installed",
            "pip install 'sparselaw[explore]'",
        ) from None
    from sparselaw.explore import serve

    def tell(address: str) -> None:
        if host not in {"127.0.0.1", "localhost", "::1"}:
            note(f"others on the network can reach {host}: whoever has this address can use this machine")
        print(address, flush=True)
        note("Ctrl-C ends it")

    serve(host=host, port=numbers.whole("port", port), browser=not no_browser, tell=tell)
