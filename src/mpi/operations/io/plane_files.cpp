#include "mpi/operations/io/plane_files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/policies/files/file_note.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/world.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
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
  runtime::Mutex mutex;
  std::map<MPI_File, WrittenFile> by_handle RESPROUT_GUARDED_BY(mutex);
  // By path, to write or to remove it.
  std::map<std::string, std::uint64_t> times RESPROUT_GUARDED_BY(mutex);
};

WrittenFiles& written_files() {
  static auto* instance = new WrittenFiles;
  return *instance;
}

void note_closed_file(const WrittenFile& file) {
  const bool is_whole = std::ranges::none_of(
      file.world_ranks, [](int rank) { return World::current()->is_lost(rank); });
  if (is_whole) shadows()->note_closed(file.name, file.writer(), file.of);
}

}  // namespace

void tell_of_no_file(const char* name, int error) {
  std::fprintf(stderr, "resprout: rank %d: no file beside %s for another plane: %s\n",
               World::current()->rank(), name, std::strerror(error));
}

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
  if (place.error != 0) tell_of_no_file(filename, place.error);
  return place;
}

void note_open(const char* filename, int amode, const Shadows::Place& place) {
  if (place.path.empty() || !is_written(amode)) return;
  const bool is_deleted = (amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
  is_deleted ? shadows()->note_deleted(filename) : shadows()->note_opened(filename);
}

std::uint64_t next_time(const char* filename) {
  const runtime::MutexLock guard(written_files().mutex);
  return ++written_files().times[Shadows::known_as(filename)];
}

void note_written_file(MPI_File fh, MPI_Comm comm, const char* filename, int amode) {
  if (!is_written(amode) || !call_policy().stands_in()) return;
  WrittenFile file{filename, communicator_of(comm)->world_ranks, next_time(filename)};
  shadows()->note_begun(filename, file.writer(), file.of);
  const runtime::MutexLock guard(written_files().mutex);
  written_files().by_handle[fh] = std::move(file);
}

void end_if_behind(const char* filename) {
  const World* world = World::current();
  if (!call_policy().stands_in() || world->lost_count() == 0) return;
  for (const int rank : communicator_of(MPI_COMM_WORLD)->world_ranks)
    if (world->is_lost(rank) && shadows()->is_behind(filename, rank))
      call_policy().on_failure("MPI_File_open", done_alone);
}

int close_written_file(MPI_File* fh) {
  runtime::MutexLock lock(written_files().mutex);
  const auto file = written_files().by_handle.extract(*fh);
  lock.unlock();
  const int code = PMPI_File_close(fh);
  if (code == MPI_SUCCESS && !file.empty()) note_closed_file(file.mapped());
  return code;
}

std::uint64_t times_alone(const std::string& filename) {
  const runtime::MutexLock guard(written_files().mutex);
  return written_files().times[Shadows::known_as(filename)];
}

int catch_up(const std::string& filename, int world_rank, std::uint64_t up_to) {
  const Shadows::CatchUp done = shadows()->catch_up(filename, world_rank, up_to);
  if (done.is_behind) call_policy().on_failure("MPI_File_open", done_alone);
  return done.error;
}

}  // namespace resprout::shim
