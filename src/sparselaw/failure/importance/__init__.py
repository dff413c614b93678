"""Importance sampling of rare divergences."""
