// Every interleaving of an asynchronous world, with every crash at every point.
//
// `explore` goes depth first through all states that can be reached and checks each one in which
// the operation has come to rest, and that no state is reached from itself: with finitely many
// states this is termination, whatever the order of things. Nothing is abstracted: two worlds count
// as the same state only if all bytes of machines, mailboxes and channels are equal. The one
// reduction: messages that their receiver ignores are delivered at once (World::deliver_ignored).
// A world is World<M> of any machine, or what has the same functions. `shortest_way` goes breadth
// first and finds the shortest counterexample.
// Thread rule: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/adversary/world.hpp"
#include "sim/exhaustive/state_set.hpp"

namespace resprout::sim {

struct Limits {
  Mischief mischief;
  std::uint64_t states_max = 0;  // 0: none
  bool is_reduced = true;
};

struct Exploration {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;  // from a state to a state
  std::uint64_t ends = 0;   // states in which the operation had come to rest
  std::uint64_t depth = 0;  // of the longest way
  bool is_complete = true;  // false: stopped at the bound on states
  std::string violation;
  std::vector<std::string> way;  // to the violation, in words
};

// A way to a violation that shows in a state, in words; empty: there is none.
struct Counterexample {
  std::string violation;
  std::vector<std::string> way;
};

// Adds what was found from another start.
inline void add(Exploration& total, Exploration&& more) {
  total.states += more.states;
  total.steps += more.steps;
  total.ends += more.ends;
  total.depth = std::max(total.depth, more.depth);
  total.is_complete = total.is_complete && more.is_complete;
  total.violation = std::move(more.violation);
  total.way = std::move(more.way);
}

// How many faults a world may still see, given that it has seen some of `mischief`.
template <typename World>
Mischief mischief_left(const World& world, Mischief mischief) {
  for (int rank = 0; rank < world.procs(); ++rank)
    if (world.is_doomed(rank)) --mischief.crashes;
  return mischief;
}

// The world after `action` and after what nobody cares about.
template <typename World>
World successor(const World& world, const Action& action, bool is_reduced) {
  World next = world;
  const int reached = next.apply(action);
  if (is_reduced) next.deliver_ignored(reached);
  return next;
}

// What is wrong with this state, or nothing. `check` is asked about operations at rest.
template <typename World, typename Check>
std::string find_violation(const World& world, const std::vector<Action>& actions,
                           const Check& check) {
  if (!world.violation().empty()) return world.violation();
  if (!World::is_at_rest(world, actions)) return "";
  return check(world.outcomes()).value_or("");
}

template <typename World, typename Check>
Exploration explore(const World& start, const Limits& limits, const Check& check) {
  struct Step {
    World world;
    StateSet::State state;
    std::vector<Action> actions;
    std::size_t next = 0;
  };
  Exploration result;
  StateSet seen;
  std::vector<Step> way;

  const auto visit = [&](World&& world, StateSet::State state) {
    seen.set(state, StateSet::Mark::open);
    way.push_back({std::move(world), state, {}});
    Step& step = way.back();
    step.world.list_actions(mischief_left(step.world, limits.mischief), step.actions);
    result.violation = find_violation(step.world, step.actions, check);
    if (World::is_at_rest(step.world, step.actions)) ++result.ends;
    result.depth = std::max<std::uint64_t>(result.depth, way.size() - 1);
  };

  visit(World(start), start.digest());
  while (!way.empty() && result.violation.empty()) {
    Step& step = way.back();
    if (step.next == step.actions.size()) {
      seen.set(step.state, StateSet::Mark::closed);
      way.pop_back();
      continue;
    }
    World world = successor(step.world, step.actions[step.next++], limits.is_reduced);
    ++result.steps;
    const StateSet::State state = world.digest();
    const StateSet::Mark mark = seen.mark(state);
    if (mark == StateSet::Mark::open) result.violation = "comes back to where it was: livelock";
    if (mark == StateSet::Mark::unseen) visit(std::move(world), state);
    result.is_complete = limits.states_max == 0 || seen.size() < limits.states_max;
    if (!result.is_complete) break;
  }
  for (const Step& step : way)
    if (step.next > 0) result.way.push_back(step.world.describe(step.actions[step.next - 1]));
  result.states = seen.size();
  return result;
}

// By the shortest way, which may lead to another violation than that which `explore` has found.
template <typename World, typename Check>
Counterexample shortest_way(const World& start, const Limits& limits, const Check& check) {
  struct Node {
    World world;
    std::vector<Action> way;
  };
  StateSet seen;
  seen.set(start.digest(), StateSet::Mark::closed);
  std::vector<Node> level;
  level.push_back({start, {}});
  std::vector<Action> actions;
  while (!level.empty()) {
    std::vector<Node> next;
    for (const Node& node : level) {
      node.world.list_actions(mischief_left(node.world, limits.mischief), actions);
      if (auto violation = find_violation(node.world, actions, check); !violation.empty()) {
        Counterexample found{std::move(violation), {}};
        World world = start;
        for (const Action& action : node.way) {
          found.way.push_back(world.describe(action));
          world = successor(world, action, limits.is_reduced);
        }
        return found;
      }
      for (const Action& action : actions) {
        World world = successor(node.world, action, limits.is_reduced);
        const StateSet::State state = world.digest();
        if (seen.mark(state) != StateSet::Mark::unseen) continue;
        seen.set(state, StateSet::Mark::closed);
        next.push_back({std::move(world), node.way});
        next.back().way.push_back(action);
      }
    }
    level = std::move(next);
  }
  return {};
}

}  // namespace resprout::sim
