"""`resprout calibrate`: who carries which collective faster on this machine, measured and kept."""
