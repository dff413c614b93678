"""Linear features reduced to the few coordinates that matter: problem, readout and population loss."""
