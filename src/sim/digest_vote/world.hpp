// An asynchronous world for the exchange of one replicated message: everything that may happen next
// is an action, and somebody else chooses, as in sim/adversary/world.hpp, whose rules hold here as
// well. What is different:
//
//  1. Messages carry digests. What a process holds of each copy is known by its digest.
//  2. One thing may be silently corrupted, once: a sender's copy before it enters, and with it all
//     that it will say; or anything on its way that carries a copy or digests. Each digest becomes
//     wrong in its own way.
//  3. Suspicions are told as long as they can matter: to receivers that are not over.
//  4. Sends are actions of their own, or follow at once: then a crash between two of them shows as
//     the loss of the last ones.
//
// While it runs the world itself checks what can only be seen on the way: nothing is delivered or
// repaired without its data, an eager method delivers and any ends only when each share has come or
// its sender is suspected, and each is said once.
// Thread rule: a value; a copy is a fork.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocols/digest_vote/digest_vote.hpp"
#include "sim/adversary/world.hpp"
#include "sim/digest_vote/outcome.hpp"

namespace resprout::sim {

// A rule that is broken on purpose, to see that it is found.
enum class DigestVoteDefect : std::uint8_t {
  none,
  origins,     // who passes a digest on gives it the next origin's name
  shares,      // a receiver waits for no other replica than its own
  suspicions,  // receivers are told of no suspicion
};

struct DigestVoteScene {
  bool may_corrupt = true;    // rule 2
  bool sends_at_once = true;  // rule 4
  DigestVoteDefect defect = DigestVoteDefect::none;
};

class DigestVoteWorld {
 public:
  using Machine = protocols::DigestVote;
  using Message = protocols::VoteMessage;

  // REQUIRES: `config` outlives the world.
  DigestVoteWorld(const protocols::DigestVoteConfig& config, const DigestVoteScene& scene);

  int procs() const { return static_cast<int>(processes_.size()); }
  const Machine& machine(int rank) const { return at(rank).machine; }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool is_doomed(int rank) const { return at(rank).is_doomed; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return messages_sent_; }

  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const DigestVoteWorld& world, const std::vector<Action>& actions);
  int apply(const Action& action);
  // Delivers what `rank` ignores now and would ignore for ever.
  void deliver_ignored(int rank);
  std::string describe(const Action& action) const;
  std::vector<DigestVoteOutcome> outcomes() const;
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  struct Process {
    explicit Process(const Machine& fresh) : machine(fresh) {}
    Machine machine;
    DigestVoteOutcome outcome;
    std::vector<Rank> suspects;
    std::array<std::uint64_t, protocols::degree_max> held{};  // by origin; 0: nothing
    std::uint32_t shares_in = 0;                              // bit i: of sender i
    std::uint32_t told = 0;                                   // bit of a rank: that it is suspected
    bool is_alive = true;
    bool is_doomed = false;
    bool has_entered = false;
    bool wants_to_send = false;
    mutable std::optional<std::pair<std::uint64_t, std::uint64_t>> digest;
  };

  const Process& at(int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }
  Process& own(int rank);
  static Context context(const Process& process) {
    return {
        {0}, {process.suspects.data(), static_cast<std::uint32_t>(process.suspects.size())}, {}};
  }
  bool is_sender(int rank) const { return rank < config_->degree; }
  bool suspects(int rank, int other) const {
    return context(at(rank)).suspects.contains(rank_at(other));
  }
  std::size_t first_of(int from, int to) const;  // in flight; their number: none
  std::size_t last_of(int from, int to) const;
  bool is_settled(int receiver) const;

  void enter(int rank);
  void deliver(int from, int to);
  void send(int rank);
  void suspect(int rank, int other);
  void crash(int rank);
  void corrupt(int from, int to);
  void drain(int rank);
  void obey(int rank, const protocols::VoteEvent& event);
  void note_end(int rank, VoteEnd end, const protocols::VoteEvent& event);
  void take(int rank, Rank origin);
  bool has_to_keep_to_own(int rank);
  static Message mislabel(const Message& message, int degree);
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "process " + std::to_string(rank) + " " + what;
  }

  const protocols::DigestVoteConfig* config_;
  DigestVoteScene scene_;
  std::vector<std::shared_ptr<Process>> processes_;
  std::vector<Message> in_flight_;  // by receiver, then sender, then age
  std::uint64_t messages_sent_ = 0;
  bool is_corrupted_ = false;
  std::string violation_;
};

}  // namespace resprout::sim
