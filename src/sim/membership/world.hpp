// An asynchronous world for memberships: everything that may happen next is an action, and somebody
// else chooses, as in sim/adversary/world.hpp, whose rules hold here as well. What is different:
//
//  1. Messages carry sets of processes; there are no payloads.
//  2. Suspicions are told one by one, as long as they would change anything, and say whether a
//     death is proven: of who is dead, if `proves`; never of who still runs.
//  3. Founders are members from the start; joiners enter later.
//  4. Doomed is who has died or was suspected by anybody; a doomed process may go on for ever.
//     With local views, drivers say of an identifier that nobody has that nobody answers.
//     With local views, who has died or was excluded may come back under its identifier, as
//     somebody new, so often in all. A process that has to be told of the earlier end is told,
//     unless the new one is admitted before; and always before it gets a message of the new one. A
//     doomed process that asks for admission dies instead: it would be suspected again, for ever.
//  5. Sends are actions of their own, or follow at once: then a crash between two of them shows as
//     the loss of the last ones.
//  6. Time passes for who is isolated, so it probes those whom it suspects: whenever, answered at
//     once, the probe would teach one of the two something, and nothing is on its way between them.
//     Who is suspected because of its probe is doomed.
//
// While it runs the world itself checks what can only be seen on the way: who installs a view is in
// it, epochs grow, no two live processes are, or have been, in different views of one epoch, and no
// process would receive a message of the application in another view than it was sent in: whatever
// those that live have ever been able to say counts as being on its way, to everybody, for ever.
// Thread rule: a value; a copy is a fork.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/adversary/world.hpp"
#include "sim/membership/outcome.hpp"
#include "sim/membership/views.hpp"

namespace resprout::sim {

// A rule that is broken on purpose, to see that it is found.
enum class MembershipDefect : std::uint8_t {
  none,
  fence,  // proposals do not say whom nobody shall listen to
  proof,  // every silence counts as the proof of a death
  view,   // a message of the application is received in any view
};

struct MembershipScene {
  int founders = 3;
  int joiners = 0;
  bool joins_low = false;     // joiners have the lowest identifiers, else the highest
  bool proves = true;         // rule 2
  bool sends_at_once = true;  // rule 5
  int returns = 0;            // rule 4
  bool probes = true;         // rule 6
  MembershipDefect defect = MembershipDefect::none;
};

// Of processes that keep views of a kind, WholeViews or LocalViews.
template <typename Views>
class MembershipWorldOf {
 public:
  using Machine = typename Views::Machine;
  using Message = typename Machine::Message;

  // REQUIRES: `config` outlives the world; at most 64 processes; of local views at most Room / 2 if
  // somebody joins.
  MembershipWorldOf(const protocols::MembershipConfig& config, const MembershipScene& scene);

  int procs() const { return static_cast<int>(processes_.size()); }
  const Machine& machine(int rank) const { return at(rank).machine; }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool is_doomed(int rank) const { return at(rank).is_doomed; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return messages_sent_; }

  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const MembershipWorldOf& world, const std::vector<Action>& actions);
  int apply(const Action& action);
  // Delivers what says nothing to `rank`, now or later.
  void deliver_ignored(int rank);
  std::string describe(const Action& action) const;
  std::vector<MembershipOutcome> outcomes() const;
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  struct Process {
    explicit Process(const Machine& fresh) : machine(fresh) {}
    Machine machine;
    protocols::View<1> view;
    std::vector<protocols::View<1>> installed;
    bool is_alive = true;
    bool is_doomed = false;
    bool has_entered = false;
    bool wants_to_send = false;
    bool has_died = false;        // and come back
    protocols::IdSet<1> unaware;  // of who has come back: those who are to be told of its end
    mutable std::optional<std::pair<std::uint64_t, std::uint64_t>> digest;
  };

  const Process& at(int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }
  Process& own(int rank);
  protocols::Evidence evidence_of(int rank) const {
    const bool is_proven = scene_.proves && (!at(rank).is_alive || !at(rank).has_entered);
    return is_proven || scene_.defect == MembershipDefect::proof ? protocols::Evidence::death
                                                                 : protocols::Evidence::silence;
  }
  std::size_t first_of(int from, int to) const;  // in flight; their number: none
  std::size_t last_of(int from, int to) const;
  bool is_quiet_between(int a, int b) const;
  bool is_due(int rank, int suspected) const;
  protocols::Evidence evidence_for(int rank, int suspected) const;
  bool may_retry(int rank) const;
  bool has_contact(int rank) const;
  bool may_probe(int rank) const;
  bool is_probe_news(Machine prober, const Message& probe) const;
  void enter(int rank);
  void come_back(int rank);
  void suspect(int rank, int suspected);
  void deliver(int from, int to);
  void send(int rank);
  void crash(int rank);
  void drain(int rank);
  void note_install(int rank);
  bool would_receive(int rank, int from, std::uint64_t epoch) const;
  void check_same_view(int receiver, int sender);
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "process " + std::to_string(rank) + " " + what;
  }

  const protocols::MembershipConfig* config_;
  MembershipScene scene_;
  protocols::IdSet<1> founders_;
  int returns_left_;
  // Shared by all forks: a digest is of the same members everywhere.
  std::shared_ptr<ViewBook> book_ = std::make_shared<ViewBook>();
  std::vector<std::shared_ptr<Process>> processes_;
  std::vector<Message> in_flight_;  // by receiver, then sender, then age
  std::uint64_t messages_sent_ = 0;
  std::string violation_;
};

extern template class MembershipWorldOf<WholeViews>;
extern template class MembershipWorldOf<LocalViews<8>>;
extern template class MembershipWorldOf<LocalViews<64>>;

}  // namespace resprout::sim
