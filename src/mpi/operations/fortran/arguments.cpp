#include "mpi/operations/fortran/arguments.hpp"

#ifdef OPEN_MPI

#  include <algorithm>
#  include <cstring>
#  include <set>

#  include "mpi/handles/communicators/neighbors.hpp"
#  include "mpi/operations/fortran/late.hpp"
#  include "runtime/mutex.hpp"

// Open MPI's, of which only the addresses count. Where there is no Fortran they may be missing.
extern "C" {
extern MPI_Fint mpi_fortran_bottom_ __attribute__((weak));
extern MPI_Fint mpi_fortran_in_place_ __attribute__((weak));
extern MPI_Fint mpi_fortran_unweighted_ __attribute__((weak));
extern MPI_Fint mpi_fortran_weights_empty_ __attribute__((weak));
extern MPI_Fint mpi_fortran_errcodes_ignore_ __attribute__((weak));
extern MPI_Fint mpi_fortran_status_ignore_ __attribute__((weak));
extern MPI_Fint mpi_fortran_statuses_ignore_ __attribute__((weak));
}

namespace resprout::shim::fortran {
namespace {

std::size_t size_of(MPI_Fint count) { return count > 0 ? static_cast<std::size_t>(count) : 0; }

constexpr std::size_t status_integers = sizeof(MPI_Status) / sizeof(MPI_Fint);

}  // namespace

void* buffer(void* address) {
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return address;
}

const int* weights(const MPI_Fint* address) {
  if (address == &mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (address == &mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return address;
}

int* errcodes(MPI_Fint* address) {
  return address == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : address;
}

Requests::Requests(MPI_Fint* fortran, MPI_Fint count) : fortran_(fortran), c_(size_of(count)) {
  for (std::size_t i = 0; i < c_.size(); ++i) c_[i] = PMPI_Request_f2c(fortran[i]);
}

Requests::~Requests() {
  for (std::size_t i = 0; i < c_.size(); ++i) {
    if (c_[i] == nullptr) continue;
    const MPI_Fint now = PMPI_Request_c2f(c_[i]);
    if (now == fortran_[i]) continue;
    give_late_communicator(fortran_[i]);
    fortran_[i] = now;
  }
}

Status::Status(MPI_Fint* fortran)
    : fortran_(fortran), is_ignored_(fortran == &mpi_fortran_status_ignore_) {
  if (!is_ignored_) PMPI_Status_f2c(fortran, &c_);
}

Status::~Status() {
  if (!is_ignored_) PMPI_Status_c2f(&c_, fortran_);
}

Statuses::Statuses(MPI_Fint* fortran, MPI_Fint count)
    : fortran_(fortran),
      is_ignored_(fortran == &mpi_fortran_statuses_ignore_),
      c_(is_ignored_ ? 0 : size_of(count)) {
  for (std::size_t i = 0; i < c_.size(); ++i)
    PMPI_Status_f2c(fortran + i * status_integers, &c_[i]);
}

Statuses::~Statuses() {
  for (std::size_t i = 0; i < c_.size(); ++i)
    PMPI_Status_c2f(&c_[i], fortran_ + i * status_integers);
}

int processes_of(const MPI_Fint* comm) {
  const MPI_Comm c = PMPI_Comm_f2c(*comm);
  if (c == nullptr || c == MPI_COMM_NULL) return 0;
  int is_inter = 0;
  int size = 0;
  PMPI_Comm_test_inter(c, &is_inter);
  is_inter != 0 ? PMPI_Comm_remote_size(c, &size) : MPI_Comm_size(c, &size);
  return size;
}

int destinations_of(const MPI_Fint* comm) {
  const MPI_Comm c = PMPI_Comm_f2c(*comm);
  return c == nullptr ? 0 : static_cast<int>(neighbors_of(c).destinations.size());
}

int sources_of(const MPI_Fint* comm) {
  const MPI_Comm c = PMPI_Comm_f2c(*comm);
  return c == nullptr ? 0 : static_cast<int>(neighbors_of(c).sources.size());
}

Datatypes::Datatypes(const MPI_Fint* fortran, int blocks, const void* buffer)
    : c_(buffer == &mpi_fortran_in_place_ ? 0 : size_of(blocks)) {
  for (std::size_t i = 0; i < c_.size(); ++i) c_[i] = PMPI_Type_f2c(fortran[i]);
}

const MPI_Datatype* kept_datatypes(const MPI_Fint* fortran, int blocks, const void* buffer) {
  static runtime::Mutex mutex;
  static auto* kept = new std::set<std::vector<MPI_Datatype>>;
  const Datatypes datatypes(fortran, blocks, buffer);
  const runtime::MutexLock lock(mutex);
  return kept->insert(datatypes.all()).first->data();
}

String::String(const char* fortran, int length) : c_(fortran, size_of(length)) {
  c_.erase(c_.find_last_not_of(' ') + 1);
}

Name::~Name() {
  const std::size_t used = std::min(std::strlen(c_), size_of(length_));
  std::memcpy(fortran_, c_, used);
  std::memset(fortran_ + used, ' ', size_of(length_) - used);
}

}  // namespace resprout::shim::fortran

#endif
