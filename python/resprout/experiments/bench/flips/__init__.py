"""`resprout bench flips`: bits anywhere in a process that are flipped, and what comes of it."""
