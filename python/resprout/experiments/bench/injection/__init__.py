"""`resprout bench injection`: bits that are flipped, and what becomes of them, by method."""
