"""The report: what each rank saw, put together, for people and for programs."""
