// MPI_Buffer_detach in Fortran: mpi_f08 gets the address of the buffer, as a C pointer; the older
// modules have no type for that, and get its size only.
#include <mpi.h>

#include "mpi/operations/fortran/names.hpp"

#ifdef OPEN_MPI
namespace {

void detach(void* address, MPI_Fint* size, MPI_Fint* ierror) {
  int bytes = 0;
  const int code = MPI_Buffer_detach(address, &bytes);
  if (code == MPI_SUCCESS) *size = bytes;
  if (ierror != nullptr) *ierror = code;
}

}  // namespace

extern "C" {

void mpi_buffer_detach_(void*, MPI_Fint* size, MPI_Fint* ierror) {
  void* address = nullptr;
  detach(&address, size, ierror);
}
RESPROUT_FORTRAN_ALIAS(mpi_buffer_detach, mpi_buffer_detach)
// NOLINTNEXTLINE(bugprone-reserved-identifier): g77 made such names.
RESPROUT_FORTRAN_ALIAS(mpi_buffer_detach__, mpi_buffer_detach)
RESPROUT_FORTRAN_ALIAS(MPI_BUFFER_DETACH, mpi_buffer_detach)
RESPROUT_FORTRAN_ALIAS(MPI_Buffer_detach_f, mpi_buffer_detach)

void mpi_buffer_detach_f08_(void* address, MPI_Fint* size, MPI_Fint* ierror) {
  detach(address, size, ierror);
}
RESPROUT_FORTRAN_ALIAS(MPI_Buffer_detach_f08, mpi_buffer_detach_f08)
}
#endif
