// MPI_Wtime in Fortran: the only one of ours that is a function. mpi_f08 calls C's.
#include <mpi.h>

#include "mpi/operations/fortran/names.hpp"

#ifdef OPEN_MPI
extern "C" double mpi_wtime_() { return MPI_Wtime(); }
RESPROUT_FORTRAN_NAMES(mpi_wtime, MPI_WTIME, MPI_Wtime)
#endif
