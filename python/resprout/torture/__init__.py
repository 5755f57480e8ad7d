"""Kills every rank of a program at every call of MPI, one job after the other, and says what became
of the others."""
