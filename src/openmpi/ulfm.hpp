// What an MPI library knows of lost processes, if it knows anything (ULFM, MPI_FT): the only place
// that asks whether it does.
//
// An MPI without ULFM gets error classes of our own, so that a lost peer has the same name
// everywhere. Thread rule: after `prepare`, from any thread.
#pragma once

#include <mpi.h>

#include <numeric>
#include <vector>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#  include <mpi-ext.h>
#endif

namespace resprout::shim::ulfm {

// MPI_Finalize comes back after a loss.
#if defined(OPEN_MPI)
inline constexpr bool finalizes_after_loss = true;
#else
inline constexpr bool finalizes_after_loss = false;
#endif

// A call whose error a handler of the program's has heard of returns that error. In MPICH and Intel
// MPI it returns MPI_SUCCESS.
#if defined(OPEN_MPI)
inline constexpr bool returns_what_handlers_heard = true;
#else
inline constexpr bool returns_what_handlers_heard = false;
#endif

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

// Ranks go on after a loss, whether or not this MPI notices it.
inline bool outlives_losses() { return is_active(); }

// Wildcard receives on `comm` go on among those of whom MPI does not yet know that they are lost.
inline void acknowledge(MPI_Comm comm) { PMPIX_Comm_failure_ack(comm); }

// Each process that is in a call on `comm`, or enters one, leaves it with an error.
inline void revoke(MPI_Comm comm) { PMPIX_Comm_revoke(comm); }

inline bool is_revoked(MPI_Comm comm) {
  int flag = 0;
  return PMPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag != 0;
}

// Whom MPI knows to be lost, as ranks of `comm` (of its remote group, if it has one).
inline std::vector<int> failed_ranks(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  if (PMPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return {};
  int count = 0;
  PMPI_Group_size(failed, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  if (count > 0) {
    std::vector<int> numbers(ranks.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    int is_inter = 0;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_test_inter(comm, &is_inter);
    is_inter != 0 ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
    PMPI_Group_translate_ranks(failed, count, numbers.data(), group, ranks.data());
    PMPI_Group_free(&group);
    std::erase(ranks, MPI_UNDEFINED);
  }
  if (failed != MPI_GROUP_EMPTY) PMPI_Group_free(&failed);
  return ranks;
}

inline int agree(MPI_Comm comm, int* flag) { return PMPIX_Comm_agree(comm, flag); }
inline int iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  return PMPIX_Comm_iagree(comm, flag, request);
}

// Collective over those of whom MPI does not know that they are lost, and bears that others are
// lost meanwhile: a communicator of those who are left; MPI_COMM_NULL if it fails.
inline MPI_Comm shrink(MPI_Comm comm) {
  MPI_Comm shrunken = MPI_COMM_NULL;
  return PMPIX_Comm_shrink(comm, &shrunken) == MPI_SUCCESS ? shrunken : MPI_COMM_NULL;
}

#else

#  if defined(MPIX_ERR_PROC_FAILED)  // MPICH has the names, though not what belongs to them

inline void prepare() {}
inline int proc_failed_class() { return MPIX_ERR_PROC_FAILED; }
inline int proc_failed_pending_class() { return MPIX_ERR_PROC_FAILED_PENDING; }
inline int revoked_class() { return MPIX_ERR_REVOKED; }
inline bool outlives_losses() { return true; }  // `resprout run` starts its ranks

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
#    if defined(MPI_ABI_VERSION)
inline bool outlives_losses() { return true; }  // `resprout run` starts its ranks
#    else
inline bool outlives_losses() { return false; }
#    endif

#  endif

inline bool is_active() { return false; }
inline void acknowledge(MPI_Comm) {}
inline void revoke(MPI_Comm) {}
inline bool is_revoked(MPI_Comm) { return false; }
inline std::vector<int> failed_ranks(MPI_Comm) { return {}; }
inline int agree(MPI_Comm, int*) { return MPI_ERR_COMM; }
inline int iagree(MPI_Comm, int*, MPI_Request*) { return MPI_ERR_COMM; }
inline MPI_Comm shrink(MPI_Comm) { return MPI_COMM_NULL; }

#endif

}  // namespace resprout::shim::ulfm
