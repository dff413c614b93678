"""Experiments on top of the library: the paper reproduced, descents step by step, networks.

Nothing below this room uses it.
"""
