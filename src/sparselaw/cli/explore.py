"""`sparselaw explore`: the local page."""

from __future__ import annotations

from importlib.util import find_spec

from sparselaw.cli.options import flag, text, whole
from sparselaw.cli.output import note
from sparselaw.errors import InputError


def explore(
    host: str = text("127.0.0.1", "Where to listen: this machine alone, unless told otherwise.", "ADDRESS"),
    port: int = whole("0", "Port; 0 takes a free one."),
    no_browser: bool = flag("--no-browser", "Only print the address."),
) -> None:
    """The local page: drag sparsity, see exponents and loss answer.

    Ends with Ctrl-C.
    """
    if not (find_spec("starlette") and find_spec("uvicorn")):
        condition, remedy = (
            "needs two small packages that are not installed",
            "pip install 'sparselaw[explore]'",
        )
        raise InputError("explore", "", condition, remedy)
    from sparselaw.explore import serve

    def tell(address: str) -> None:
        if host not in {"127.0.0.1", "localhost", "::1"}:
            note(f"others on the network can reach {host}: whoever has this address can use this machine")
        print(address, flush=True)
        note("Ctrl-C ends it")

    serve(host=host, port=port, browser=not no_browser, tell=tell)
