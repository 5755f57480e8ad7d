// Whom a tree colors if some processes are dead from the beginning, and whom not.
//
// A process stays uncolored if it or an ancestor of it is dead: the subtrees of the dead. In
// depth-first order a subtree is a range, so that painting it costs its size and nothing else. On
// average a subtree has O(log procs) nodes. With many faults there is a quicker way: in interleaved
// numbering a stretch of children has its parents side by side in the same order, so 64 of them get
// their colors from 64 parents at once.
//
// Invariants
//  1. A process that is colored is colored at the same time as without faults: a message to a dead
//  process
//     takes its sender as long as any other.
// Cost: O(procs log procs) once, then O(faults + min(uncolored, procs/64)) a run.
// Thread rule: one thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/time.hpp"
#include "sim/exact/rank_bits.hpp"
#include "sim/logp/faults.hpp"
#include "sim/logp/model.hpp"
#include "topology/tree.hpp"

namespace resprout::sim {

class TreeColoring {
 public:
  // `root` is rank 0 of the tree, the others follow it on the ring.
  TreeColoring(const topology::Tree& tree, Rank root, const LogP& model);

  // REQUIRES: all ranks are below procs; they are dead from the beginning.
  void color(std::span<const Death> deaths);

  std::int32_t procs() const { return procs_; }
  bool is_dead(std::int32_t rank) const { return dead_.contains(rank); }
  bool is_colored(std::int32_t rank) const { return !uncolored_.contains(rank); }
  // The colors of the ring, 64 ranks a word, the lowest in the lowest bit, 1: colored. [1] has rank
  // 0; [0] what comes before it. Behind the last rank the ring goes on with rank 0, for a word and
  // more. If procs < 128 what is no rank counts as colored instead.
  std::span<const std::uint64_t> colors() const { return colors_; }
  // Those beside `rank`: its neighbor in the highest bit (left), or in the lowest.
  // REQUIRES: procs >= 128.
  std::uint64_t colored_left_of(std::int32_t rank) const {
    const auto [at, bit] = place_of(rank);
    return colors_[at + 1] << 1 << (63 - bit) | colors_[at] >> bit;
  }
  std::uint64_t colored_right_of(std::int32_t rank) const {
    const auto [at, bit] = place_of(rank);
    return colors_[at + 1] >> bit >> 1 | colors_[at + 2] << (63 - bit);
  }
  // How many words have all ranks.
  std::size_t words() const { return colors_.size() - 2; }
  std::uint64_t dead_word(std::size_t at) const { return dead_.word(at); }
  // Which bits of a word are ranks.
  std::uint64_t valid_word(std::size_t at) const {
    const std::int32_t rest = procs_ - static_cast<std::int32_t>(at * 64);
    return rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
  }
  bool has_root() const { return is_colored(root_); }
  std::int32_t dead() const { return dead_count_; }
  std::int32_t colored() const { return procs_ - uncolored_count_; }

  // Sent down the tree, those to the dead included. REQUIRES: has_root().
  std::int64_t messages() const { return colored() - 1 + dead_children_; }
  // When the last of all would be colored if nobody were dead.
  Time fault_free_end() const { return by_time_.front().at; }
  // When the last of the colored was. REQUIRES: has_root().
  Time end() const;

  // Calls f(begin, end) for each run of words of 64 ranks that have an uncolored one, or beside
  // which there is one.
  template <typename F>
  void for_each_run_beside(F f) const;
  // Calls f(rank, left is uncolored, right is uncolored) for each colored process beside an
  // uncolored one, in ascending order.
  template <typename F>
  void for_each_border(F f) const;

 private:
  struct Colored {
    Time at;
    std::int32_t rank;
  };

  // Nodes whose parents are `parents`, `parents` + 1, ... all before `begin`.
  struct Stretch {
    std::int32_t begin;
    std::int32_t end;
    std::int32_t parents;
  };

  void find_stretches();
  void paint_subtrees(std::span<const Death> deaths);
  void paint_subtree(std::int32_t node);
  void paint_stretches(std::span<const Death> deaths);
  void paint_stretch(const Stretch& stretch);
  void paint_partly(const Stretch& stretch, std::int32_t first);
  std::uint64_t row(std::int32_t node) const;
  std::uint64_t nodes_from(std::int32_t node) const;
  void find_beside();
  void update_colors();
  struct Place {
    std::size_t at;
    std::uint32_t bit;
  };
  static Place place_of(std::int32_t rank) {
    return {static_cast<std::uint32_t>(rank) / 64, static_cast<std::uint32_t>(rank) % 64};
  }
  std::int32_t rank_of(std::int32_t node) const;
  std::int32_t node_of(std::int32_t rank) const;

  std::int32_t procs_;
  std::int32_t root_;
  std::vector<std::int32_t> parents_;      // by node (rank in the tree)
  std::vector<std::int32_t> begins_;       // by node: where its subtree begins in depth_first_
  std::vector<std::int32_t> sizes_;        // by node: of its subtree
  std::vector<std::int32_t> depth_first_;  // ranks on the ring
  std::vector<Colored> by_time_;           // the last one first
  std::vector<std::int32_t> dead_ranks_;
  RankBits dead_;
  RankBits uncolored_;
  std::vector<Stretch> stretches_;  // all nodes but the root; empty if there are too many
  // By node, and a word behind them: who is uncolored; who because of its parent.
  std::vector<std::uint64_t> uncolored_nodes_;
  std::vector<std::uint64_t> orphans_;
  std::vector<std::uint64_t> colors_;
  std::vector<std::uint64_t> beside_;  // by word: it is uncolored somewhere, or its neighbor is
  std::int32_t dead_count_ = 0;
  std::int32_t uncolored_count_ = 0;
  std::int32_t dead_children_ = 0;  // dead ones whose parent is colored
};

template <typename F>
void TreeColoring::for_each_run_beside(F f) const {
  std::size_t begin = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    std::uint64_t left = beside_[i];
    while (left != 0) {
      const int first = std::countr_zero(left);
      const int count = std::countr_one(left >> first);
      const std::size_t next = i * 64 + static_cast<std::size_t>(first);
      if (next != end) {
        if (begin != end) f(begin, end);
        begin = next;
      }
      end = next + static_cast<std::size_t>(count);
      if (first + count == 64) break;
      left &= ~std::uint64_t{0} << (first + count);
    }
  }
  if (begin != end) f(begin, end);
}

template <typename F>
void TreeColoring::for_each_border(F f) const {
  const std::size_t last = static_cast<std::size_t>(procs_ - 1) / 64;
  const auto last_bit = static_cast<unsigned>(procs_ - 1) % 64;
  for_each_run_beside([&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const std::uint64_t here = uncolored_.word(at);
      const std::uint64_t before =
          at == 0 ? uncolored_.word(last) >> last_bit : uncolored_.word(at - 1) >> 63;
      const std::uint64_t behind =
          at == last ? (uncolored_.word(0) & 1) << last_bit : uncolored_.word(at + 1) << 63;
      const std::uint64_t left_of = here << 1 | before;
      const std::uint64_t right_of = here >> 1 | behind;
      std::uint64_t borders = ~here & (left_of | right_of) & valid_word(at);
      for (; borders != 0; borders &= borders - 1) {
        const int bit = std::countr_zero(borders);
        f(static_cast<std::int32_t>(at * 64) + bit, (left_of >> bit & 1) != 0,
          (right_of >> bit & 1) != 0);
      }
    }
  });
}

}  // namespace resprout::sim
