"""`resprout run`: find an MPI, start the job, pass signals through, leave nothing behind."""
