// Files of jobs that go on after losses: each member of the communicator has the file open for
// itself (MPI_COMM_SELF). What it reads and writes, in collective calls too, waits for nobody. Open
// MPI's own files do not bear a loss: their collective calls wait for the dead or crash, and a
// communicator that has lost a member opens none.
//
// What concerns the file as a whole one member does for all: its creation, its size, its removal.
// In a session of the file's own all hear what came of it, also if some are lost meanwhile. The
// shared pointer is a number beside the file (shared_pointer.hpp). Where siblings stand in, what
// the lost should have written is written for them (account.hpp).
//
// Thread rule: as MPI's own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/operations/io/account.hpp"
#include "mpi/operations/io/shared_pointer.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

class CollectiveCall;

class Apart {
 public:
  // `session`: of the members, and of nothing else. `name`: of the file. `account`: null where
  // nobody stands in.
  Apart(runtime::Session& session, MPI_Group group, std::string name, int amode,
        std::unique_ptr<Account> account);
  // Collective, as all that follows but move_pointer and note_written.
  ~Apart();
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  // All of these give MPI_SUCCESS or the class of an error, of which the file's error handler has
  // heard.
  // `obstacle`: the class of an error that is in this member's way, or MPI_SUCCESS.
  int open(MPI_Info info, MPI_File* fh, int obstacle);
  int close(MPI_File* fh);
  // What others have written before, or should have, is there (account.hpp). `call`: the lower-case
  // MPI name, a string literal.
  int settle(MPI_File fh, const char* call);
  // This process writes so many elements there, counted in those of the view; or from where its own
  // pointer stands on.
  void note_written(MPI_Offset at, int count, MPI_Datatype datatype);
  void note_written(MPI_File fh, int count, MPI_Datatype datatype);
  // When all are here one of them calls this for all: what it returned there.
  int by_one(MPI_File fh, const std::function<int()>& act);
  // Views begin with their pointers at their beginning. `act`: MPI's call, with this displacement;
  // MPI_DISPLACEMENT_CURRENT is where the shared pointer stands, for MPI_MODE_SEQUENTIAL alone.
  int set_view(MPI_File fh, MPI_Offset disp, const std::function<int(MPI_Offset disp)>& act);
  // Moves the shared pointer, counted in elements of the view, by as many as `count` of `datatype`
  // are, and has these read or written behind where it stood.
  using Access = std::function<int(MPI_Offset at)>;
  int move_pointer(MPI_File fh, int count, MPI_Datatype datatype, const Access& access);
  // That is to write.
  void note_written_somewhere();
  // As move_pointer for all members, one behind the other in the order of their ranks.
  int move_in_order(MPI_File fh, const char* call, int count, MPI_Datatype datatype,
                    const Access& access);
  int seek_pointer(MPI_File fh, MPI_Offset offset, int whence);
  int pointer(MPI_File fh, MPI_Offset* offset);

  MPI_Group group() const { return group_; }
  int amode() const { return amode_; }
  // What a split collective was begun with, for its end.
  struct Split {
    int code;
    MPI_Status status;
  };
  std::optional<Split> split;

 private:
  bool is_first();
  std::uint64_t hear(std::uint64_t said);
  int catch_up();
  std::vector<int> missing() const;
  std::vector<std::int64_t> hear_all(std::int64_t said, const char* call);

  runtime::Session& session_;
  MPI_Group group_;
  const std::string name_;
  const int amode_;
  const std::unique_ptr<Account> account_;
  std::optional<SharedPointer> pointer_;
  std::uint64_t times_moved_ = 0;  // by one for all
};

// MPI_File_open. `call`: that of the program, under the engine's lock.
int open_apart(CollectiveCall& call, MPI_Comm comm, const char* filename, int amode, MPI_Info info,
               MPI_File* fh);

// Null: it is one of MPI's own.
std::shared_ptr<Apart> apart_of(MPI_File fh);
// As apart_of. Afterwards nothing is known of the handle.
std::shared_ptr<Apart> take_apart(MPI_File fh);

}  // namespace resprout::shim
