"""Naive twins of what the package does fast, one file a room. Slow and obvious."""
