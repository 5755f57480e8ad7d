// For tests: one way through an allreduce in the asynchronous world, told step by step.
// Thread rule: none.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/adversary/world.hpp"

namespace resprout::sim::testing {

template <Machine M>
class Scenario {
 public:
  // Of all processes, which have entered. REQUIRES: `config` outlives it.
  template <typename Config>
  explicit Scenario(const Config& config) : world_(make_world(config)) {
    for (int rank = 0; rank < config.procs; ++rank) act(ActionKind::enter, rank);
  }

  void dies(int rank) { act(ActionKind::crash, rank); }
  void suspects(int rank, const std::vector<int>& suspected) {
    for (int other : suspected) act(ActionKind::suspect, rank, other);
  }
  // `from` sends what it has to send, up to a message to `to`, which arrives.
  void tells(int from, int to) {
    sends_up_to(from, to);
    act(ActionKind::deliver, from, to);
  }
  void sends_up_to(int from, int to) {
    while (!has_action({ActionKind::deliver, as_byte(from), as_byte(to)}))
      act(ActionKind::send, from);
  }

  // Lets everything else happen, in one order, and says what promise was broken.
  Verdict verdict() {
    for (;;) {
      list();
      std::optional<Action> next;
      for (const Action& action : actions_)
        if (action.kind != ActionKind::crash || world_.is_doomed(action.a))
          if (!next || action.kind != ActionKind::crash) next = action;
      if (!next) break;
      world_.apply(*next);
    }
    if (!world_.violation().empty()) return world_.violation();
    return check_allreduce(world_.outcomes());
  }

 private:
  static std::uint8_t as_byte(int rank) { return static_cast<std::uint8_t>(rank); }

  template <typename Config>
  static World<M> make_world(const Config& config) {
    std::vector<M> machines;
    std::vector<Payload> inputs;
    for (int rank = 0; rank < config.procs; ++rank) {
      machines.emplace_back(config, rank_at(rank));
      inputs.push_back({std::uint64_t{1} << rank, 0});
    }
    return {machines, inputs, 0};
  }

  void list() {
    Mischief mischief;
    mischief.suspects_the_living = true;
    world_.list_actions(mischief, actions_);
  }
  bool has_action(const Action& action) {
    list();
    return std::find(actions_.begin(), actions_.end(), action) != actions_.end();
  }
  void act(ActionKind kind, int a, int b = 0) { world_.apply({kind, as_byte(a), as_byte(b)}); }

  World<M> world_;
  std::vector<Action> actions_;
};

}  // namespace resprout::sim::testing
