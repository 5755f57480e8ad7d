// What the system says of files, as MPI says it.
#pragma once

#include <mpi.h>

#include <cerrno>

namespace resprout::shim {

inline int class_of_errno(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ENAMETOOLONG:
      return MPI_ERR_BAD_FILE;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    default:
      return MPI_ERR_IO;
  }
}

// Tells the file's error handler, of MPI_FILE_NULL that of calls without an open file.
inline int fail_as(MPI_File fh, int error_class) {
  PMPI_File_call_errhandler(fh, error_class);
  return error_class;
}

}  // namespace resprout::shim
