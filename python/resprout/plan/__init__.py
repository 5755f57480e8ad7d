"""`resprout plan`: how far correction has to reach so that a broadcast misses nobody."""
