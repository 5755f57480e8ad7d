"""Lazy Fault Detection for Redundant MPI: its tables and figures, replayed on a network of ours."""
