"""Sums over coordinates at a cost that does not grow with their number."""
