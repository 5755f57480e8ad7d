"""`resprout reproduce`: what papers claim, simulated again and compared."""
