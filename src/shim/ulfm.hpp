// What an MPI library knows of lost processes, if it knows anything (ULFM, MPI_FT): the only place
// that asks whether it does.
//
// An MPI without ULFM gets error classes of our own, so that a lost peer has the same name
// everywhere. Thread rule: after `prepare`, from any thread.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#  include <mpi-ext.h>
#endif

namespace resprout::shim::ulfm {

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI

inline void prepare() {}
inline int proc_failed_class() { return MPIX_ERR_PROC_FAILED; }
inline int proc_failed_pending_class() { return MPIX_ERR_PROC_FAILED_PENDING; }
inline int revoked_class() { return MPIX_ERR_REVOKED; }

// True if the job was started so that this MPI notices losses by itself.
inline bool is_active() {
  static const bool value = [] {
    int* is_tolerant = nullptr;
    int is_set = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &is_tolerant, &is_set);
    return is_set != 0 && *is_tolerant != 0;
  }();
  return value;
}

// Wildcard receives on `comm` go on among those of whom MPI does not yet know that they are lost.
inline void acknowledge(MPI_Comm comm) { PMPIX_Comm_failure_ack(comm); }

// Whoever is in a call on `comm`, or enters one, leaves it with an error.
inline void revoke(MPI_Comm comm) { PMPIX_Comm_revoke(comm); }

// How many processes of `comm` MPI knows to be lost.
inline int failed_count(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  int count = 0;
  if (PMPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return 0;
  PMPI_Group_size(failed, &count);
  if (failed != MPI_GROUP_EMPTY) PMPI_Group_free(&failed);
  return count;
}

#else

#  if defined(MPIX_ERR_PROC_FAILED)  // MPICH has the names, though not what belongs to them

inline void prepare() {}
inline int proc_failed_class() { return MPIX_ERR_PROC_FAILED; }
inline int proc_failed_pending_class() { return MPIX_ERR_PROC_FAILED_PENDING; }
inline int revoked_class() { return MPIX_ERR_REVOKED; }

#  else

namespace detail {
inline int add_class(const char* text) {
  int added = MPI_ERR_OTHER;
  PMPI_Add_error_class(&added);
  PMPI_Add_error_string(added, text);
  return added;
}
}  // namespace detail

inline int proc_failed_class() {
  static const int value = detail::add_class("MPIX_ERR_PROC_FAILED: a process was lost");
  return value;
}
inline int proc_failed_pending_class() {
  static const int value = detail::add_class(
      "MPIX_ERR_PROC_FAILED_PENDING: a process that might have sent this was lost");
  return value;
}
inline int revoked_class() {
  static const int value = detail::add_class("MPIX_ERR_REVOKED: the communicator was revoked");
  return value;
}
// All processes add them in the same order, in MPI_Init, so they have the same numbers everywhere.
inline void prepare() {
  proc_failed_class();
  proc_failed_pending_class();
  revoked_class();
}

#  endif

inline bool is_active() { return false; }
inline void acknowledge(MPI_Comm) {}
inline void revoke(MPI_Comm) {}
inline int failed_count(MPI_Comm) { return 0; }

#endif

}  // namespace resprout::shim::ulfm
