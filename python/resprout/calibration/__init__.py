"""What was measured of a machine, and kept: which operations go to the MPI library there."""
