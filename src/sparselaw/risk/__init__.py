"""Population loss of the trained readout."""
