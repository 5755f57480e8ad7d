#include "openmpi/local_failure.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>

#include "openmpi/library_function.hpp"

namespace resprout::shim {
namespace {

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5

// As Open MPI has it for a process of a job.
struct ProcessName {
  std::uint32_t job;
  std::uint32_t rank;
};

// PMIX_ERR_PROC_ABORTED, which the library says itself of a death that it finds.
constexpr int process_aborted = -200;

struct Functions {
  int (*name_job)(std::uint32_t* job, const char* name) = nullptr;
  void* (*process_of)(ProcessName name) = nullptr;
  int (*note_failure)(void* process, int status, bool forward) = nullptr;
  std::uint32_t job = 0;
  bool are_there = false;
};

// They are what they are taken for if they find this process where the library keeps it.
Functions find_all() {
  Functions all;
  void** self = nullptr;
  const char* const job = std::getenv("PMIX_NAMESPACE");
  if (job == nullptr || !find_in_library(all.name_job, "opal_pmix_convert_nspace") ||
      !find_in_library(all.process_of, "ompi_proc_for_name") ||
      !find_in_library(all.note_failure, "ompi_errhandler_proc_failed_internal") ||
      !find_in_library(self, "ompi_proc_local_proc") || all.name_job(&all.job, job) != 0)
    return all;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const ProcessName own{all.job, static_cast<std::uint32_t>(rank)};
  all.are_there = *self != nullptr && all.process_of(own) == *self;
  return all;
}

const Functions& functions() {
  static const Functions all = find_all();
  return all;
}

#endif

}  // namespace

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5

bool can_fail_locally() { return functions().are_there; }

void fail_locally(int world_rank) {
  void* const process =
      functions().process_of({functions().job, static_cast<std::uint32_t>(world_rank)});
  if (process != nullptr) functions().note_failure(process, process_aborted, false);
}

#else

bool can_fail_locally() { return false; }
void fail_locally(int) {}

#endif

}  // namespace resprout::shim
