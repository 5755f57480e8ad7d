"""`resprout sim`: protocols on the LogP machine, from the command line."""
