"""`resprout bench revoke`: a communicator that is revoked in the middle of a collective."""
