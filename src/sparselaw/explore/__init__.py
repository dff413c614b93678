"""The local page on which theory, trials and fits can be looked at, and the same in a notebook."""

from sparselaw.explore.serve import serve

__all__ = ["serve"]
