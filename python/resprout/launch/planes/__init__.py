"""Replicated ranks: each plane is an MPI job of its own (docs/replication.md, docs/adr/010)."""
