// What a plane goes back to when it has worked with wrong data: the paper's "initiate correction"
// for those methods that find corruption late.
//
// A checkpoint is taken by all ranks of a plane at the same place of the program, where none of
// its messages is on the way. It waits until it is known whether all that they have received is
// right, and compares what is protected with the other planes; so it is right itself, or is not
// taken. If anything was wrong the plane puts back what the last checkpoint has kept, and the
// program, whose loop counters are among it, does everything since then again: among itself, at
// MPI's own speed. Its siblings go on. They have heard of those messages already, so nobody hears
// of them again, and what was decided is decided the same. Where it had gone back from, it is where
// they were; what is protected has to be what they had there, and then the plane is one of them
// again. Where nobody can tell who is right, as of two replicas, all planes go back.
//
// A plane that was lost comes back at a checkpoint, too (returns.hpp); where nothing is verified
// that is all.
//
// Lazy Fault Detection for Redundant MPI, chapter 7 ("correction"); docs/explanation/adr/014.
// Thread rule: the thread that calls MPI; note() from any.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/policies/checkpoints/muted.hpp"
#include "mpi/policies/checkpoints/returns.hpp"
#include "mpi/policies/regions.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/compared_writes.hpp"
#include "mpi/policies/replicas/findings.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/peer_planes.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {

class Checkpoints {
 public:
  // What goes back, and those that have to know.
  struct Setup {
    PeerPlanes& peer_planes;
    Messages& messages;
    Comparing& comparing;
    Findings& findings;
    Receives& receives;
    Returns& returns;
    bool verifies = true;  // false: nothing is found wrong, nobody goes back
    int rank = 0;          // in the world
    int replica = 0;
    std::string run_directory;
    void (*meanwhile)() = nullptr;  // while a call waits for its verdict
  };
  explicit Checkpoints(Setup setup) : setup_(std::move(setup)) {}
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Keeps what is protected, or puts it back, or has it from the others if this plane comes back.
  // MPI_SUCCESS; MPI_ERR_PENDING: messages, receives or collectives are under way somewhere in this
  // plane, nothing is kept. Collective over MPI_COMM_WORLD.
  int take(Regions& regions);

  // Something was found.
  void note(const runtime::Finding& finding);
  // For MPI_Finalize: from here nobody goes back.
  void finish();

  struct Figures {
    std::uint64_t taken = 0;
    std::uint64_t returns = 0;  // so often has it gone back
  };
  Figures figures() const { return figures_; }

 private:
  // Where a program is: so much was sent, received, compared and made by then.
  struct Place {
    Messages::Counts messages;
    runtime::SentStreams collectives;
    NamedChildren communicators;

    bool operator==(const Place&) const = default;
  };
  // Of the whole plane.
  struct Sight {
    bool is_tainted = false;
    bool is_busy = false;      // messages, receives or collectives are under way
    bool can_restore = false;  // all that was kept is still protected
    bool can_repeat = false;   // what was decided
    bool is_doomed = false;    // if it cannot go back it has to end
  };

  Place place();
  void set_place(const Place& place);
  void take_only_in(Regions& regions);
  void settle();
  Sight look(const Regions& regions, bool is_own_wrong = false);
  bool is_right(const Regions& regions);
  void keep(const Regions& regions);
  void count();
  void take_in(const runtime::Return& found, const Regions& regions);
  void come_back(Regions& regions);
  void begin_anew(int newcomer);
  // Null: it can.
  const char* why_not(const Sight& sight);
  void go_back(Regions& regions);
  void arrive();
  void give_up(const Sight& sight, const char* why);
  [[noreturn]] void end_process(const char* why);

  const Setup setup_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // of this plane
  Regions::Copy kept_;
  Place kept_at_;
  WriteSums kept_writes_;
  Place was_at_;  // before it went back
  std::uint64_t kept_wildcards_ = 0;
  std::unique_ptr<Muted> muted_;  // while it does again what it had done
  int attempts_ = 0;              // from this checkpoint to the next
  bool is_own_wrong_ = false;     // not for the first time, at the next
  // What the next checkpoint has to be; nothing: it was not compared, or nobody could tell.
  std::optional<std::uint64_t> right_;
  Figures figures_;
  runtime::Mutex mutex_;
  std::uint64_t compared_ RESPROUT_GUARDED_BY(mutex_) = 0;
  // About what was compared last.
  std::optional<runtime::Finding> found_ RESPROUT_GUARDED_BY(mutex_);
};

// Of this process; null: there are none. Set between two MPI calls of the program.
inline std::atomic<Checkpoints*> checkpoints{nullptr};

}  // namespace resprout::shim
