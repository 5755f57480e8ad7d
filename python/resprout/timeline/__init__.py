"""`resprout timeline`: a simulated run as a picture, processes down and time across."""
