// Siblings stand in for a process that its plane has lost (--on-replica-loss stand-in): what it
// would have said there they have said in their planes, under the same names, and keep it for
// those who ask (runtime/replicas/recall.hpp).
//
// A plane with a gap goes on as a job does that has lost ranks: its messages among the living are
// the MPI library's, its collectives our own. What is missing then, a message of the lost or its
// part of a collective, is asked for and put where it belongs (messages.hpp,
// substituted_collective.hpp). A process whose program does what cannot be done so ends; its
// siblings stand in for it, too.
//
// With --verify what replicas say is compared as far as they live (docs/explanation/adr/025). A
// message of the lost is then the vote's to give (messages.hpp); who has worked with wrong data
// ends alone.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpi/policies/replicas/findings.hpp"
#include "mpi/policies/replicas/peer_planes.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/options.hpp"
#include "mpi/process/report/verification_figures.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/recall.hpp"

namespace resprout::shim {

class ReplicaSubstitution final : public CallPolicy {
 public:
  // Meets the other planes. `address`: where this process can be reached by its own plane. Throws
  // as PeerPlanes does. Collective over MPI_COMM_WORLD.
  ReplicaSubstitution(const Options& options, const std::string& address, int rank, int ranks);

  int rank() const { return rank_; }

  // The lifeline says that a process of this plane is lost.
  void lose(int world_rank);

  // This process says it; `readers`, world ranks, may ask for it.
  void keep(const runtime::MessageName& name, std::span<const std::byte> bytes,
            std::span<const std::int32_t> readers);
  // What it has said of a collective that it is in.
  std::vector<std::byte> said(const runtime::MessageName& name);
  // It has received the message.
  void note_received(const runtime::MessageName& name);
  // Of the next collective on the communicator of this name, from 1.
  std::uint64_t next_collective(std::uint64_t communicator);
  void note_collective(std::uint64_t communicator, std::uint64_t number);

  // What rank `whose` has said under this name: waits for it. Where nobody is left who could say
  // it, this process ends.
  std::vector<std::byte> recall(const runtime::MessageName& name, std::int32_t whose,
                                const char* call);
  // The same, as far as it is there by now. `is_of_own_plane`: written if it is.
  std::optional<std::vector<std::byte>> maybe_recall(const runtime::MessageName& name,
                                                     std::int32_t whose, const char* call,
                                                     bool* is_of_own_plane = nullptr);
  // What rank `lost` of this plane would have sent next (Recall::first_heard).
  std::optional<runtime::Recall::Headline> first_heard(
      std::int32_t lost, std::uint64_t communicator, std::int32_t tag,
      const std::function<std::uint64_t(const runtime::Stream&)>& taken);
  // `is_there` is called now and then, until it returns true.
  void wait_for(const std::function<bool()>& is_there);
  // `step` is called with the recall, locked, now and then, until it returns true.
  void wait_until(const std::function<bool(runtime::Recall&)>& step);

  // Waits until all that this process has received is verified, and nobody can ask it for anything
  // any more; and leaves.
  VerificationFigures finish();

  // REQUIRES: it has not left.
  PeerPlanes& peer_planes() { return *peer_planes_; }
  // What is done while a call waits for what crosses planes.
  void meanwhile();
  // This, too. REQUIRES: nobody waits yet.
  void also_meanwhile(void (*step)()) { also_meanwhile_ = step; }

  // What the program does needs more than others can stand in for. `what`: "MPI_Recv", say.
  [[noreturn]] void end_here(const std::string& what, const char* why) const;
  bool stands_in() const override { return true; }
  void on_failure(const std::string& what, const char* why) const override { end_here(what, why); }

 private:
  void lose(runtime::Replica replica);
  void note(const runtime::Finding& finding);
  bool has_living_sibling();

  const int rank_;
  const int ranks_;
  const std::int32_t plane_;
  const bool verifies_;
  Findings findings_;
  void (*also_meanwhile_)() = nullptr;
  runtime::Mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> collectives_ RESPROUT_GUARDED_BY(mutex_);
  // Of each stream: all up to this number was received, and these beyond it.
  struct Received {
    std::uint64_t all_up_to = 0;
    std::set<std::uint64_t> beyond;
  };
  std::unordered_map<runtime::Stream, Received, runtime::StreamHash> received_
      RESPROUT_GUARDED_BY(mutex_);
  runtime::Mutex leaving_;                 // taken first: no loss is noted while it leaves
  std::optional<PeerPlanes> peer_planes_;  // until it has left
  runtime::Recall recall_ RESPROUT_GUARDED_BY(mutex_);
};

// Of this process; null: nobody stands in for anybody. Set in MPI_Init.
inline std::atomic<ReplicaSubstitution*> replica_substitution{nullptr};

// Of this process, which ends: `what` needs a lost one, on a communicator that has no name in other
// planes.
[[noreturn]] void end_for_unknown(const char* what);

}  // namespace resprout::shim
