// The plans of the Revoke benchmark: collective operations as the steps of one rank.
//
// Plan B (Revoke), section 4.1: the operations of Open MPI's "tuned" module. Its barrier for any
// number of processes is the dissemination of Bruck et al.; its allreduce of few bytes is recursive
// doubling, to which ranks beyond the largest power of two send before and from which they hear
// after (coll_base_barrier.c, coll_base_allreduce.c).
// Thread rule: pure functions.
#pragma once

#include <bit>
#include <cstdint>

#include "registry/spec.hpp"
#include "topology/binomial_graph.hpp"

namespace resprout::sim {

// Send, and wait for a message; -1: to or from nobody.
struct Step {
  std::int32_t to = -1;
  std::int32_t from = -1;
};

class PlanSteps {
 public:
  PlanSteps(registry::Plan plan, std::int32_t procs)
      : procs_(procs), is_barrier_(plan == registry::Plan::barrier) {}

  std::int32_t count() const {
    const std::int32_t doublings = std::bit_width(static_cast<std::uint32_t>(procs_)) - 1;
    return is_barrier_ ? topology::BinomialGraph{procs_}.steps() : doublings + 2;
  }

  // REQUIRES: 0 <= rank < procs; 0 <= step < count().
  Step of(std::int32_t rank, std::int32_t step) const {
    if (is_barrier_)
      return {topology::ring_neighbor(rank, 1 << step, procs_),
              topology::ring_neighbor(rank, -(1 << step), procs_)};
    const std::int32_t beyond = procs_ - (1 << (count() - 2));
    // Of the first 2 * beyond, the even ones leave their part to the next.
    const bool has_proxy = rank < 2 * beyond && rank % 2 == 0;
    const bool is_proxy = rank < 2 * beyond && rank % 2 == 1;
    if (step == 0) return {has_proxy ? rank + 1 : -1, is_proxy ? rank - 1 : -1};
    if (step == count() - 1) return {is_proxy ? rank - 1 : -1, has_proxy ? rank + 1 : -1};
    if (has_proxy) return {};
    const std::int32_t place = is_proxy ? rank / 2 : rank - beyond;
    const std::int32_t other = place ^ (1 << (step - 1));
    const std::int32_t partner = other < beyond ? 2 * other + 1 : other + beyond;
    return {partner, partner};
  }

 private:
  std::int32_t procs_;
  bool is_barrier_;
};

}  // namespace resprout::sim
