"""`resprout bench recovery`: an allreduce into which processes die, ours and by ULFM."""
