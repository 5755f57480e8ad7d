"""Replicated ranks: each plane is an MPI job of its own (docs/how-to/replication.md)."""
