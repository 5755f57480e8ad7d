#include "shim/files/calls.hpp"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "shim/files/error_class.hpp"
#include "shim/files/quiet_opening.hpp"
#include "shim/files/shadows.hpp"
#include "shim/peers.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

// Nothing: this process is no replica, and files are as the program says.
std::optional<Shadows> shadows() {
  World* world = World::current();
  if (world == nullptr) return std::nullopt;
  const Options& options = world->options();
  if (!options.is_replicated() || options.run_directory.empty()) return std::nullopt;
  return Shadows({options.run_directory, options.replica, options.replicas});
}

bool is_inter(MPI_Comm comm) {
  int flag = 0;
  PMPI_Comm_test_inter(comm, &flag);
  return flag != 0;
}

bool is_of_one(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL && World::current() != nullptr) PMPI_Comm_size(comm, &size);
  return size == 1;
}

bool is_written(int amode) {
  constexpr int writing = MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  return (amode & writing) != 0;
}

void tell(const char* name, int error) {
  std::fprintf(stderr, "resprout: rank %d: no file beside %s for another plane: %s\n",
               World::current()->rank(), name, std::strerror(error));
}

// What errors of calls without an open file come to.
int fail(int error) {
  const int code = class_of_errno(error);
  PMPI_File_call_errhandler(MPI_FILE_NULL, code);
  return code;
}

// What the first rank of `comm` has found out is for all of them.
void share(MPI_Comm comm, Shadows::Place& place) {
  int said[] = {place.error, static_cast<int>(place.path.size()), place.was_made ? 1 : 0};
  PMPI_Bcast(said, 3, MPI_INT, 0, comm);
  place.error = said[0];
  place.path.resize(static_cast<std::size_t>(said[1]));
  place.was_made = said[2] != 0;
  PMPI_Bcast(place.path.data(), said[1], MPI_CHAR, 0, comm);
}

}  // namespace

Shadows::Place place_of(const char* filename, int amode) {
  const auto own = shadows();
  if (!own) return {};
  Shadows::Place place = is_written(amode) ? own->to_write(filename) : own->to_read(filename);
  if (place.error != 0) tell(filename, place.error);
  return place;
}

void note_open(const char* filename, int amode, const Shadows::Place& place) {
  if (place.path.empty() || !is_written(amode)) return;
  const bool is_deleted = (amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
  is_deleted ? shadows()->note_deleted(filename) : shadows()->note_opened(filename);
}

int open_file(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  std::optional<QuietOpening> quiet;
  if (is_of_one(comm)) quiet.emplace();
  if (!shadows() || comm == MPI_COMM_NULL || filename == nullptr || is_inter(comm))
    return PMPI_File_open(comm, filename, amode, info, fh);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  Shadows::Place place;
  if (rank == 0) place = place_of(filename, amode);
  share(comm, place);
  if (place.error != 0) return fail(place.error);
  const char* path = place.path.empty() ? filename : place.path.c_str();
  const int how = place.was_made ? amode & ~MPI_MODE_EXCL : amode;
  const int code = PMPI_File_open(comm, path, how, info, fh);
  if (code == MPI_SUCCESS && rank == 0) note_open(filename, amode, place);
  return code;
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_File_delete(const char* filename, MPI_Info info) {
  const GuardedCall call("file_delete");
  const auto own = filename != nullptr ? shadows() : std::nullopt;
  if (!own) return PMPI_File_delete(filename, info);
  const Shadows::Place place = own->to_write(filename);
  if (place.error != 0) tell(filename, place.error);
  if (place.error != 0) return fail(place.error);
  if (place.path.empty()) return PMPI_File_delete(filename, info);
  const int code = PMPI_File_delete(place.path.c_str(), info);
  if (code == MPI_SUCCESS) own->note_deleted(filename);
  return code;
}
