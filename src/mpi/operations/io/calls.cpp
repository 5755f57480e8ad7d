#include "mpi/operations/io/calls.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/carriers/if_whole.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/requests/peers.hpp"
#include "mpi/operations/io/apart.hpp"
#include "mpi/operations/io/error_class.hpp"
#include "mpi/policies/files/file_note.hpp"
#include "mpi/policies/files/shadows.hpp"
#include "mpi/policies/replicas/compared_writes.hpp"
#include "mpi/policies/replicas/masking.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/info_value.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/quiet_opening.hpp"

namespace resprout::shim {
namespace {

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

void tell(const char* name, int error) {
  std::fprintf(stderr, "resprout: rank %d: no file beside %s for another plane: %s\n",
               World::current()->rank(), name, std::strerror(error));
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

std::optional<Shadows> shadows() {
  World* world = World::current();
  if (world == nullptr) return std::nullopt;
  const Options& options = world->options();
  if (!options.is_replicated() || options.run_directory.empty()) return std::nullopt;
  return Shadows({options.run_directory, options.replica, options.replicas});
}

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

namespace {

constexpr const char* done_alone = "needs a file that a lost rank has written, or removed, alone";

// What the MPI library has open to be written, where siblings stand in: what it is called, and who
// has it open. The first one of them says so. Never destroyed: threads may be here at the end.
struct WrittenFile {
  std::string name;
  std::vector<int> world_ranks;
  std::uint64_t of = 0;

  int writer() const { return world_ranks.size() == 1 ? world_ranks.front() : FileNote::several; }
};
struct WrittenFiles {
  std::mutex mutex;
  std::map<MPI_File, WrittenFile> by_handle;
  std::map<std::string, std::uint64_t> times;  // by path, to write or to remove it
};

WrittenFiles& written_files() {
  static auto* instance = new WrittenFiles;
  return *instance;
}

std::uint64_t next_time(const char* filename) {
  const std::lock_guard guard(written_files().mutex);
  return ++written_files().times[Shadows::known_as(filename)];
}

void note_written_file(MPI_File fh, MPI_Comm comm, const char* filename, int amode) {
  if (!is_written(amode) || masking.load(std::memory_order_acquire) == nullptr) return;
  WrittenFile file{filename, communicator_of(comm)->world_ranks, next_time(filename)};
  shadows()->note_begun(filename, file.writer(), file.of);
  const std::lock_guard guard(written_files().mutex);
  written_files().by_handle[fh] = std::move(file);
}

void note_closed_file(const WrittenFile& file) {
  const bool is_whole = std::ranges::none_of(
      file.world_ranks, [](int rank) { return World::current()->is_lost(rank); });
  if (is_whole) shadows()->note_closed(file.name, file.writer(), file.of);
}

// Who opens a file without others cannot know how far a lost rank would have come.
void end_if_behind(const char* filename) {
  const Masking* by = masking.load(std::memory_order_acquire);
  const World* world = World::current();
  if (by == nullptr || world->lost_count() == 0) return;
  for (const int rank : communicator_of(MPI_COMM_WORLD)->world_ranks)
    if (world->is_lost(rank) && shadows()->is_behind(filename, rank))
      by->end_here("MPI_File_open", done_alone);
}

}  // namespace

std::uint64_t times_alone(const std::string& filename) {
  const std::lock_guard guard(written_files().mutex);
  return written_files().times[Shadows::known_as(filename)];
}

int catch_up(const std::string& filename, int world_rank, std::uint64_t up_to) {
  const Shadows::CatchUp done = shadows()->catch_up(filename, world_rank, up_to);
  if (done.is_behind) masking.load()->end_here("MPI_File_open", done_alone);
  return done.error;
}

}  // namespace resprout::shim

using namespace resprout::shim;

namespace {

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
  if (!ulfm::is_active() || is_opened_together(call, info)) return false;
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
  std::unique_lock lock(written_files().mutex);
  const auto file = written_files().by_handle.extract(*fh);
  lock.unlock();
  const int code = PMPI_File_close(fh);
  if (code == MPI_SUCCESS && !file.empty()) note_closed_file(file.mapped());
  return code;
}

extern "C" int MPI_File_delete(const char* filename, MPI_Info info) {
  const GuardedCall call("file_delete");
  const auto own = filename != nullptr ? shadows() : std::nullopt;
  if (!own) return PMPI_File_delete(filename, info);
  const Shadows::Place place = own->to_write(filename);
  if (place.error != 0) tell(filename, place.error);
  if (place.error != 0) return fail_as(MPI_FILE_NULL, class_of_errno(place.error));
  const std::string path = place.path.empty() ? filename : place.path;
  const int code = PMPI_File_delete(path.c_str(), info);
  if (code != MPI_SUCCESS) return code;
  if (!place.path.empty()) own->note_deleted(filename);
  if (masking.load(std::memory_order_acquire) != nullptr)
    own->note_removed(filename, World::current()->rank(), next_time(filename));
  return code;
}
