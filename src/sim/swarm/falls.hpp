// The beginning of a run whose coordinators decide and die, one after the other: each has told one
// process alone, which the next coordinator may suspect although it runs. So decisions of several
// rounds are about at once, and it matters who reports which of them. Random choice hardly ever
// comes there.
//
// Thread rule: no shared state.
#pragma once

#include <algorithm>
#include <vector>

#include "core/random.hpp"
#include "sim/adversary/world.hpp"

namespace resprout::sim {

template <typename World>
concept DecidingWorld = requires(const World& world) { world.machine(0).has_delivered(); };

// `act` applies an action and counts it.
template <DecidingWorld World, typename Act>
class Falls {
 public:
  Falls(World& world, Random& random, Act& act) : world_(world), random_(random), act_(act) {}

  // Of so many coordinators, as long as three processes are left that nobody suspects.
  void run(int falls) {
    for (int i = 0; i < falls && standing() >= 3; ++i) {
      const int coordinator = lowest_but(-1);
      if (!decides(coordinator)) return;
      const int told = tell_one(coordinator);
      act_(Action{ActionKind::crash, as_byte(coordinator)});
      if (told >= 0 && standing() >= 3 && !world_.is_doomed(told) && random_.chance(3, 4))
        act_(Action{ActionKind::suspect, as_byte(lowest_but(told)), as_byte(told)});
      all_suspect(coordinator);
    }
  }

 private:
  static std::uint8_t as_byte(int rank) { return static_cast<std::uint8_t>(rank); }

  int standing() const {
    int count = 0;
    for (int rank = 0; rank < world_.procs(); ++rank) count += world_.is_doomed(rank) ? 0 : 1;
    return count;
  }
  int lowest_but(int other) const {
    int rank = 0;
    while (rank == other || world_.is_doomed(rank)) ++rank;
    return rank;
  }
  template <typename Wanted>
  const std::vector<Action>& list(Wanted is_wanted) {
    world_.list_actions(Mischief{}, actions_);
    std::erase_if(actions_, [&](const Action& action) { return !is_wanted(action); });
    return actions_;
  }
  Action any_of(const std::vector<Action>& actions) {
    return actions[random_.below(actions.size())];
  }

  // Whatever happens without faults, until it has decided.
  bool decides(int coordinator) {
    const auto is_no_fault = [](const Action& action) { return action.kind != ActionKind::crash; };
    while (!world_.machine(coordinator).has_delivered()) {
      if (list(is_no_fault).empty()) return false;
      act_(any_of(actions_));
    }
    return true;
  }

  // Of the first few whom it tells one hears it. Who that is; -1: nobody.
  int tell_one(int coordinator) {
    const auto is_send = [coordinator](const Action& action) {
      return action.kind == ActionKind::send && action.a == coordinator;
    };
    for (std::uint64_t sends = 1 + random_.below(3); sends > 0 && !list(is_send).empty(); --sends)
      act_(actions_[0]);
    const auto is_heard = [coordinator](const Action& action) {
      return action.kind == ActionKind::deliver && action.a == coordinator;
    };
    if (list(is_heard).empty()) return -1;
    const Action told = any_of(actions_);
    act_(told);
    return told.b;
  }

  void all_suspect(int lost) {
    const auto is_due = [lost](const Action& action) {
      return action.kind == ActionKind::suspect && action.b == lost;
    };
    while (!list(is_due).empty()) act_(any_of(actions_));
  }

  World& world_;
  Random& random_;
  Act& act_;
  std::vector<Action> actions_;
};

}  // namespace resprout::sim
