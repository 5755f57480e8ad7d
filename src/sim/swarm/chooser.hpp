// Chooses what happens next in an asynchronous world, at random, in a way that differs from run to
// run.
//
// Swarm testing (Groce et al., "Swarm Testing", ISSTA 2012): each run switches fault kinds off at
// random and gives the rest random weights, because what is always possible hides what is rare.
// Thread rule: a value.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "sim/adversary/world.hpp"

namespace resprout::sim {

// The faults of one run, drawn before it.
struct FaultPlan {
  Mischief mischief;
  int dead_at_start = 0;
  bool prefers_low_ranks = false;  // as victims: they are the coordinators
  int falls = 0;                   // so many coordinators fall first: falls.hpp
};

FaultPlan draw_fault_plan(Random& random, int procs);

class Chooser {
 public:
  Chooser(Random& random, bool prefers_low_ranks);

  // One of `actions`. `doomed`: bit i is set if process i is.
  // REQUIRES: some action is no new fault.
  Action choose(const std::vector<Action>& actions, std::uint64_t doomed);

 private:
  // What is weighted against each other: the kinds of actions, but faults that are new apart from
  // those that must come.
  enum Category { enter, deliver, send, wake, suspect, fence, fault, lose, categories };
  static Category category_of(const Action& action, std::uint64_t doomed);
  bool is_put_off(const Action& action);

  Random* random_;
  std::array<std::uint64_t, categories> weights_{};
  std::array<std::vector<Action>, categories> buckets_;
  std::uint64_t salt_ = 0;  // of the paces of this run; 0: all are equal
  bool prefers_low_ranks_;
};

}  // namespace resprout::sim
