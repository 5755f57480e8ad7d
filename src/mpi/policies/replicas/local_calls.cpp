// Calls that ask nobody, and whose answers may yet differ between replicas: MPI_Wtime,
// MPI_Get_processor_name.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "mpi/policies/replicas/decided.hpp"

using namespace resprout::shim;

extern "C" double MPI_Wtime() {
  Decided* by = decided.load(std::memory_order_acquire);
  return by == nullptr ? PMPI_Wtime() : by->wtime();
}

extern "C" int MPI_Get_processor_name(char* name, int* resultlen) {
  const int code = PMPI_Get_processor_name(name, resultlen);
  Decided* by = decided.load(std::memory_order_acquire);
  if (by == nullptr || code != MPI_SUCCESS) return code;
  const std::string own(name, static_cast<std::size_t>(*resultlen));
  const std::string text = by->processor_name([&] { return own; });
  const std::size_t length = std::min(text.size(), std::size_t{MPI_MAX_PROCESSOR_NAME - 1});
  // All of it, so that what is sent with it is alike, too.
  std::memset(name, 0, MPI_MAX_PROCESSOR_NAME);
  text.copy(name, length);
  *resultlen = static_cast<int>(length);
  return code;
}
