// Silent data corruption on purpose: one bit of a message that this process sends is another one.
//
// Lazy Fault Detection for Redundant MPI, chapter 3: "SDC affects MPI send buffers, or other values
// in memory from where corruption eventually propagates to send buffers". What is sent instead of
// the program's buffer is a copy of it with the bit flipped: the buffer itself may be read-only,
// and the program may look at it. Messages are what point-to-point calls send to a rank, in the
// order of the calls (of a persistent request: of its starts), from 1; to MPI_PROC_NULL nothing is
// sent, and in an empty message nothing can be flipped.
//
// Or the bit is one of what the rank gives to its n-th collective, of those to which it gives
// anything (of a persistent one each start is one), or of the memory that the program has
// protected, at the end of its n-th resprout_checkpoint. These are flipped where they lie: there
// the library reads them, and who verifies them puts them right.
//
// When it has happened, a flip leaves a note "flipped": {"fault", "rank", "message", "bit",
// "bytes", "call", "destination", "tag", "communicator", "flipped_ns"}; one of a collective has
// "collective" in place of "message", and no "destination" and "tag"; one of memory has
// "checkpoint", and no "communicator" either.
//
// Thread rule: from any thread; `armed_flips` is set once.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "mpi/handles/datatypes/kept_datatype.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/datatypes/send_buffer.hpp"
#include "mpi/policies/regions.hpp"
#include "mpi/process/options.hpp"
#include "mpi/process/report/notes.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {

class Flips;

// The send buffer of a persistent request: a copy, made anew at each start.
class PersistentCopy {
 public:
  PersistentCopy(Flips& flips, const SendBuffer& original, const Sending& sending);
  const SendBuffer& sent() const { return sent_; }
  // Before MPI_Start: a message, of which a flip may be due.
  void refresh();

 private:
  Flips& flips_;
  const KeptDatatype datatype_;
  const SendBuffer original_;
  const Sending sending_;
  std::vector<std::byte> bytes_;
  SendBuffer sent_;
};

// The flips of one process. Copies stay as long as this: MPI may read them long after the call.
class Flips {
 public:
  // Those among `faults` that are flips of world rank `rank`.
  Flips(const std::vector<Fault>& faults, int rank, const std::string& run_directory);
  // The texts of those that have not happened.
  std::vector<std::string> left();

  // Counts a message. What is to be sent for `buffer`: `buffer` itself unless a flip is due.
  SendBuffer as_sent(const SendBuffer& buffer, const Sending& sending);
  // Null if MPI will refuse the arguments.
  PersistentCopy* persistent_copy(const SendBuffer& buffer, const Sending& sending);
  // Some are of collectives.
  bool has_collectives() const { return has_collectives_; }
  // It is about to give these to a collective.
  void at_collective(std::span<const Piece> given, MPI_Comm comm, const char* call);
  // The program has taken a checkpoint.
  void at_checkpoint(Regions& regions);

 private:
  friend class PersistentCopy;
  // Those of the next message, which is counted hereby. They are no longer due.
  std::vector<Fault> take_due(std::size_t bytes);
  void flip(std::vector<std::byte>& bytes, const std::vector<Fault>& due, const Sending& sending);

  Notes notes_;
  bool has_collectives_ = false;
  runtime::Mutex mutex_;
  std::uint64_t messages_ RESPROUT_GUARDED_BY(mutex_) = 0;
  std::uint64_t collectives_ RESPROUT_GUARDED_BY(mutex_) = 0;
  std::uint64_t checkpoints_ RESPROUT_GUARDED_BY(mutex_) = 0;
  std::vector<Fault> due_ RESPROUT_GUARDED_BY(mutex_);
  std::deque<std::vector<std::byte>> sent_ RESPROUT_GUARDED_BY(mutex_);
  std::deque<PersistentCopy> persistent_ RESPROUT_GUARDED_BY(mutex_);
};

// Of this process; null unless some are armed. Never ends.
inline std::atomic<Flips*> armed_flips{nullptr};

}  // namespace resprout::shim
