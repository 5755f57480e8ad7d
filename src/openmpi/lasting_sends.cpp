#include "openmpi/lasting_sends.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "openmpi/library_function.hpp"

namespace resprout::shim {

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5

namespace {

using Send = int (*)(const void* buffer, std::size_t count, MPI_Datatype datatype, int destination,
                     int tag, int mode, MPI_Comm comm);
using Begin = int (*)(const void* buffer, std::size_t count, MPI_Datatype datatype, int destination,
                      int tag, int mode, MPI_Comm comm, MPI_Request* request);
using Wait = int (*)(MPI_Request* request, MPI_Status* status);

Begin begin_send = nullptr;
Wait wait_for = nullptr;

// The request of a send that failed stays, as the library would end the process if what is done
// with found an error.
int send(const void* buffer, std::size_t count, MPI_Datatype datatype, int destination, int tag,
         int mode, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = begin_send(buffer, count, datatype, destination, tag, mode, comm, &request);
  return code == MPI_SUCCESS ? wait_for(&request, MPI_STATUS_IGNORE) : code;
}

// The functions of the pml that was chosen: those of an open one are among its first pointers.
std::span<Send> chosen_pml() {
  constexpr std::size_t functions_max = 16;
  auto* const first = static_cast<Send*>(dlsym(RTLD_DEFAULT, "mca_pml"));
  return first == nullptr ? std::span<Send>() : std::span(first, functions_max);
}

}  // namespace

void make_sends_last() {
  Send of_library = nullptr;
  if (!find_in_library(of_library, "mca_pml_ob1_send") ||
      !find_in_library(begin_send, "mca_pml_ob1_isend") ||
      !find_in_library(wait_for, "ompi_request_default_wait"))
    return;
  const std::span<Send> functions = chosen_pml();
  const auto place = std::find(functions.begin(), functions.end(), of_library);
  if (place != functions.end()) *place = send;
}

#else

void make_sends_last() {}

#endif

}  // namespace resprout::shim
