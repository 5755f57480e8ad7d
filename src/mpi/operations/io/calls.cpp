// MPI_File_open, MPI_File_close and MPI_File_delete: of replicas each plane has files of its own.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "mpi/carriers/if_whole.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/io/apart.hpp"
#include "mpi/operations/io/error_class.hpp"
#include "mpi/operations/io/plane_files.hpp"
#include "mpi/policies/files/shadows.hpp"
#include "mpi/policies/replicas/compared_writes.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/info_value.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/quiet_opening.hpp"

using namespace resprout::shim;

namespace {

bool is_inter(MPI_Comm comm) {
  int flag = 0;
  PMPI_Comm_test_inter(comm, &flag);
  return flag != 0;
}

bool is_of_one(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL && World::current() != nullptr) MPI_Comm_size(comm, &size);
  return size == 1;
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

// By the MPI library, for all.
int open_file(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  std::optional<QuietOpening> quiet;
  if (is_of_one(comm)) quiet.emplace();
  if (!shadows() || comm == MPI_COMM_NULL || filename == nullptr || is_inter(comm))
    return PMPI_File_open(comm, filename, amode, info, fh);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  Shadows::Place place;
  if (rank == 0) end_if_behind(filename);
  if (rank == 0) place = place_of(filename, amode);
  share(comm, place);
  if (place.error != 0) return fail_as(MPI_FILE_NULL, class_of_errno(place.error));
  const char* path = place.path.empty() ? filename : place.path.c_str();
  const int how = place.was_made ? amode & ~MPI_MODE_EXCL : amode;
  const int code = PMPI_File_open(comm, path, how, info, fh);
  if (code != MPI_SUCCESS || rank != 0) return code;
  note_open(filename, amode, place);
  note_written_file(*fh, comm, filename, amode);
  return code;
}

// With a hint the MPI library opens it.
bool is_opened_together(CollectiveCall& call, MPI_Info info) {
  const auto hint = info != MPI_INFO_NULL ? value_of(info, "resprout_open") : std::nullopt;
  if (!hint || *hint == "apart") return false;
  if (*hint == "together") return true;
  if (index(call.session().members().self()) == 0)
    std::fprintf(stderr, "resprout: resprout_open: %s is neither apart nor together; it is apart\n",
                 hint->c_str());
  return false;
}

// Not where nobody is to go on after a loss.
bool opens_apart(CollectiveCall& call, MPI_Info info) {
  const Options& options = World::current()->options();
  if (ends_with_first_loss(options)) return false;
  if (!ulfm::outlives_losses() || is_opened_together(call, info)) return false;
  return options.on_loss != OnLoss::error || call.is_whole();
}

}  // namespace

extern "C" int MPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info,
                             MPI_File* fh) {
  const int code = if_whole(
      comm, "file_open", [&] { return open_file(comm, filename, amode, info, fh); },
      [&](CollectiveCall& call) -> std::optional<int> {
        if (!opens_apart(call, info)) return {};
        return open_apart(call, comm, filename, amode, info, fh);
      });
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL && is_written(amode))
    begin_comparing_writes(*fh, comm);
  return code;
}

extern "C" int MPI_File_close(MPI_File* fh) {
  const GuardedCall call("file_close");
  if (fh == nullptr) return PMPI_File_close(fh);
  end_comparing_writes(*fh, "file_close");
  if (const auto apart = take_apart(*fh)) return apart->close(fh);
  return close_written_file(fh);
}

extern "C" int MPI_File_delete(const char* filename, MPI_Info info) {
  const GuardedCall call("file_delete");
  const auto own = filename != nullptr ? shadows() : std::nullopt;
  if (!own) return PMPI_File_delete(filename, info);
  const Shadows::Place place = own->to_write(filename);
  if (place.error != 0) tell_of_no_file(filename, place.error);
  if (place.error != 0) return fail_as(MPI_FILE_NULL, class_of_errno(place.error));
  const std::string path = place.path.empty() ? filename : place.path;
  const int code = PMPI_File_delete(path.c_str(), info);
  if (code != MPI_SUCCESS) return code;
  if (!place.path.empty()) own->note_deleted(filename);
  if (call_policy().stands_in())
    own->note_removed(filename, World::current()->rank(), next_time(filename));
  return code;
}
