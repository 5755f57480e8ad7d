// What a process writes to a file that is open apart (apart.hpp), so that a plane which has lost it
// can have it all the same, where siblings stand in (policies/replicas/replica_substitution.hpp).
//
// Each process remembers where it writes. Where others may read it from then on, the members
// *settle*: in MPI_File_sync, MPI_File_close, and in blocking collective reads. There each keeps
// what it has written since they settled last, as it keeps what it gives to a collective; all agree
// on who is missing in this plane; and one of them asks the siblings of those for what they have
// kept, and writes it.
//
// Invariants
//  1. Who is not missing has written all of it before, in this plane, too.
//  2. Replicas settle in the same order, so the n-th time is the same everywhere.
//
// Thread rule: as MPI's own of calls on one file.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/operations/io/view.hpp"
#include "mpi/operations/io/written.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/streams.hpp"

namespace resprout::shim {

class ReplicaSubstitution;

class Account {
 public:
  // Of the file that all of `comm` are opening as the program calls it, which is at `path` in this
  // plane. Null: nobody stands in. They all ask, in all planes, whether it will be opened or not.
  static std::unique_ptr<Account> of(MPI_Comm comm, std::string filename, std::string path);

  // All open it: each says first how often it has written or removed it alone (begin_with). What
  // the missing have done is then done in this plane, too, by one for all. 0, or errno.
  void begin_opening();
  int catch_up(const std::vector<int>& missing) const;
  // Said by one for all: it is open to be written, or was closed with all that is in it.
  void note_begun() const;
  void note_closed() const;

  // It is open, or has another view now.
  void note_view(MPI_File fh);
  // So many elements of `datatype` are written from the `at`-th of the view on.
  void note_written(MPI_Offset at, int count, MPI_Datatype datatype);
  // Where, the shared pointer says, which others move in other planes.
  void note_written_somewhere();

  // The members settle, and each first keeps what it has written.
  void begin(const char* call);
  // Writes for these ranks of the communicator what they should have. 0, or errno. One of the
  // members does. If that is lost meanwhile, another one does all of it.
  int write_for(const std::vector<int>& missing);
  // The same of a number that each of them says, for each member that wants to know.
  void begin_with(const char* call, std::int64_t number);
  std::int64_t number_of(int missing) const;
  void end();

 private:
  Account(ReplicaSubstitution& by, std::string filename, std::string path,
          std::vector<int> world_ranks);

  runtime::MessageName name(int world_rank, int part) const;
  void begin_anew(const char* call);
  void keep(int part, std::span<const std::byte> bytes);
  std::vector<std::byte> recall(int rank, int part) const;

  ReplicaSubstitution& by_;
  const std::string filename_;
  const std::string path_;
  const std::vector<int> world_ranks_;
  std::optional<std::uint64_t> name_;  // nothing: other planes do not know of the communicator
  std::uint64_t times_ = 0;
  const char* call_ = nullptr;

  runtime::Mutex mutex_;
  std::optional<View> view_ RESPROUT_GUARDED_BY(mutex_);
  Written written_ RESPROUT_GUARDED_BY(mutex_);
};

}  // namespace resprout::shim
