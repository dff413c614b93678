"""Nonlinear features: the population error of a readout, and dense trials narrow and wide."""
