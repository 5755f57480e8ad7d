"""Measures real collectives: Resprout's protocols and the MPI library's own, in turns."""
