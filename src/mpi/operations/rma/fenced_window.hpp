// A window whose fences are ours, so that losses do not hurt them (docs/explanation/adr/030).
//
// What a process calls between two fences is written down (access_list.hpp), and the second fence
// is an exchange of that among all members (list_exchange.hpp): each carries out what the others
// want of its memory, and answers in a second exchange if anybody has asked for something. Both are
// collectives on a communicator of the window's own. So a fence is what they are: it ends though
// members are lost, of whom it has all of their epoch or nothing; siblings stand in for the lost,
// and replicas are compared. Where the MPI library has the window in memory that members share,
// puts and gets are copies, at once, and a fence only waits for all.
//
// Everything else is the MPI library's: epochs of locks, and those that are started and posted.
// A window that was made after a loss is the library's only as far as this process goes
// (MPI_COMM_SELF), and has no others.
//
// Thread rule: from any thread from which MPI may be called; the program sees to it that nobody
// accesses it during a fence.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "mpi/handles/datatypes/send_buffer.hpp"
#include "mpi/operations/rma/access_list.hpp"
#include "mpi/operations/rma/list_exchange.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {

// Where what is read goes.
struct ResultBuffer {
  void* data = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

class FencedWindow {
 public:
  struct Made {
    bool is_apart = false;           // the MPI library knows the window of this process only
    bool is_dynamic = false;         // has no memory of its own
    bool is_allocated = false;       // though the library calls it one for loads and stores
    WindowMemory memory;             // of this process
    std::vector<std::byte*> shared;  // by rank, where it may copy to and from; empty: nowhere
  };
  // Takes `comm`, a communicator of the window's own. Collective over it.
  FencedWindow(MPI_Comm comm, const Made& made);
  FencedWindow(const FencedWindow&) = delete;
  FencedWindow& operator=(const FencedWindow&) = delete;

  bool is_apart() const { return is_apart_; }
  bool is_allocated() const { return is_allocated_; }
  MPI_Comm comm() const { return comm_; }

  // An access to `rank` is in an epoch of fences, and not the library's business.
  bool has_fences_for(int rank);
  // The program has called what begins an epoch of the library's, or ends it. `rank`:
  // MPI_ANY_SOURCE for all.
  void begin_locks(int rank);
  void end_locks(int rank);
  void begin_start();
  void end_start();

  // Each returns an error class; the window's handler has not seen it.
  int put(const SendBuffer& origin, int rank, const AtTarget& place);
  int get(const ResultBuffer& result, int rank, const AtTarget& place);
  int accumulate(const SendBuffer& origin, int rank, const AtTarget& place, MPI_Op op);
  int get_accumulate(const SendBuffer& origin, const ResultBuffer& result, int rank,
                     const AtTarget& place, MPI_Op op);
  // Of one element each.
  int compare_and_swap(const void* origin, const void* compared, const ResultBuffer& result,
                       int rank, const AtTarget& place);
  // MPIX_ERR_PROC_FAILED: this process has read from a lost one, where that is no error.
  int fence(int assertion);

  // Before the window is freed, by all members. False, at all of them: the library's own must not
  // be, as it would wait for the lost.
  bool close();

 private:
  // One that has been asked for, until the fence.
  struct Awaited {
    ResultBuffer result;
    bool is_own_type;  // a duplicate: the program may have freed its own
  };
  struct Member {
    WindowMemory memory;  // of its units and bytes; the base is null, or where it may be copied to
    AccessList accesses;
    std::vector<Awaited> awaited;  // in the order of the accesses
  };

  bool is_lost(int rank) const;
  // MPI_SUCCESS, or what is wrong with an access; `is_void`: it is to nobody.
  int check(int rank, const AtTarget& place, bool& is_void) RESPROUT_REQUIRES(mutex_);
  int add(AccessKind kind, MPI_Op op, int rank, const AtTarget& place,
          std::span<const std::byte> data, const ResultBuffer* result) RESPROUT_REQUIRES(mutex_);
  int exchange() RESPROUT_REQUIRES(mutex_);
  void take_answers(const ListsOfBytes& answers) RESPROUT_REQUIRES(mutex_);
  // An access that reads is to nobody, with these arguments.
  void note_missed(int rank, const AtTarget& place) RESPROUT_REQUIRES(mutex_);
  void forget_epoch() RESPROUT_REQUIRES(mutex_);

  const MPI_Comm comm_;
  const bool is_apart_;
  const bool is_dynamic_;
  const bool is_allocated_;
  const WindowMemory memory_;
  bool is_shared_ = false;  // members copy to and from each other's memory
  runtime::Mutex mutex_;
  std::vector<Member> members_ RESPROUT_GUARDED_BY(mutex_);
  bool is_open_ RESPROUT_GUARDED_BY(mutex_) = false;  // since a fence
  // Something that was to be read from the lost, since a fence.
  bool has_missed_ RESPROUT_GUARDED_BY(mutex_) = false;
  bool is_started_ RESPROUT_GUARDED_BY(mutex_) = false;    // an epoch of the library's
  bool is_locked_ RESPROUT_GUARDED_BY(mutex_) = false;     // all are
  std::multiset<int> locked_ RESPROUT_GUARDED_BY(mutex_);  // those
};

}  // namespace resprout::shim
