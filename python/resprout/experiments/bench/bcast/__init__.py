"""`resprout bench bcast`: MPI_Bcast by several protocols in turns."""
