// Who is alive, who has left, who is lost, as far as this process knows; and with whom it keeps
// links: the binomial graph of the Revoke paper (rank v is linked with v ± 2^i), drawn over the
// living.
//
// Invariant: a rank that is no longer alive never is again.
//
// Thread rule: the lifeline's thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topology/binomial_graph.hpp"

namespace resprout::runtime {

enum class Standing : std::uint8_t { alive, left, lost };

class Roster {
 public:
  Roster(int self, int size) : self_(self), standing_(static_cast<std::size_t>(size)) {}

  int self() const { return self_; }
  int size() const { return static_cast<int>(standing_.size()); }
  bool contains(int rank) const { return rank >= 0 && rank < size(); }
  Standing standing(int rank) const { return standing_[static_cast<std::size_t>(rank)]; }
  bool is_alive(int rank) const { return standing(rank) == Standing::alive; }
  bool has_anybody_left() const {
    return std::ranges::find(standing_, Standing::left) != standing_.end();
  }

  // False if it was known already that the rank is gone. REQUIRES: standing != alive.
  bool note(int rank, Standing standing) {
    if (!is_alive(rank)) return false;
    standing_[static_cast<std::size_t>(rank)] = standing;
    return true;
  }

  // To whom this process keeps links of its own accord: for each i the first living rank from
  // self + 2^i on. With the links that others keep to it this is the binomial graph, as long as
  // nobody is gone, and never less than the ring of the living.
  std::vector<int> link_targets() const {
    const topology::BinomialGraph graph{size()};
    std::vector<int> targets;
    for (int i = 0; i < graph.steps(); ++i) {
      int target = graph.right(self_, i);
      while (target != self_ && !is_alive(target)) target = (target + 1) % size();
      if (target != self_ && !contains(targets, target)) targets.push_back(target);
    }
    return targets;
  }

 private:
  static bool contains(const std::vector<int>& ranks, int rank) {
    for (const int each : ranks)
      if (each == rank) return true;
    return false;
  }

  int self_;
  std::vector<Standing> standing_;
};

}  // namespace resprout::runtime
