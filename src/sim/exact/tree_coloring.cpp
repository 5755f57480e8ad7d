#include "sim/exact/tree_coloring.hpp"

#include <algorithm>

#include "sim/logp/dissemination.hpp"
#include "topology/ring.hpp"

namespace resprout::sim {

TreeColoring::TreeColoring(const topology::Tree& tree, Rank root, const LogP& model)
    : procs_(tree.procs()),
      root_(index(root)),
      dead_(procs_),
      uncolored_(procs_),
      uncolored_nodes_(procs_),
      beside_(procs_ / 64 + 1) {
  const auto procs = static_cast<std::size_t>(procs_);
  const std::vector<Duration> times = coloring_times(tree, model);
  parents_.resize(procs);
  begins_.resize(procs);
  sizes_.assign(procs, 1);
  depth_first_.resize(procs);
  for (std::int32_t node = 0; node < procs_; ++node)
    parents_[static_cast<std::size_t>(node)] = tree.parent(node);
  for (std::size_t node = procs - 1; node > 0; --node)  // parents come before their children
    sizes_[static_cast<std::size_t>(parents_[node])] += sizes_[node];
  std::vector<std::int32_t> next(procs);  // by node: where the subtree of its next child begins
  for (std::size_t node = 0; node < procs; ++node) {
    if (node > 0) {
      std::int32_t& begin = next[static_cast<std::size_t>(parents_[node])];
      begins_[node] = begin;
      begin += sizes_[node];
    }
    next[node] = begins_[node] + 1;
    depth_first_[static_cast<std::size_t>(begins_[node])] =
        rank_of(static_cast<std::int32_t>(node));
    by_time_.push_back({Time{times[node]}, rank_of(static_cast<std::int32_t>(node))});
  }
  std::stable_sort(by_time_.begin(), by_time_.end(),
                   [](const Colored& a, const Colored& b) { return a.at > b.at; });
  find_stretches();
}

void TreeColoring::find_stretches() {
  for (std::int32_t node = 1; node < procs_; ++node) {
    const std::int32_t parent = parents_[static_cast<std::size_t>(node)];
    const bool goes_on = !stretches_.empty() && parent < stretches_.back().begin &&
                         parent == stretches_.back().parents + (node - stretches_.back().begin);
    if (!goes_on) stretches_.push_back({node, node, parent});
    stretches_.back().end = node + 1;
  }
  // With numbering in-order, or on a chain.
  if (stretches_.size() > 64 && stretches_.size() > static_cast<std::size_t>(procs_) / 256)
    stretches_.clear();
}

std::int32_t TreeColoring::rank_of(std::int32_t node) const {
  return topology::ring_neighbor(node, root_, procs_);
}

std::int32_t TreeColoring::node_of(std::int32_t rank) const {
  return topology::ring_distance(root_, rank, procs_);
}

void TreeColoring::paint_subtree(std::int32_t node) {
  const auto* const begin = depth_first_.data() + begins_[static_cast<std::size_t>(node)];
  const auto* const end = begin + sizes_[static_cast<std::size_t>(node)];
  for (const auto* rank = begin; rank != end; ++rank) uncolored_.insert(*rank);
}

void TreeColoring::color(std::span<const Death> deaths) {
  dead_.clear();
  uncolored_.clear();
  beside_.clear();
  dead_ranks_.clear();
  dead_children_ = 0;
  for (const Death& death : deaths) {
    if (dead_.contains(index(death.rank))) continue;
    dead_.insert(index(death.rank));
    dead_ranks_.push_back(index(death.rank));
  }
  if (!stretches_.empty() && procs_ >= 64 && dead() > procs_ / 2048)
    paint_stretches();
  else
    paint_subtrees();
  uncolored_count_ = 0;
  const std::int32_t words = (procs_ - 1) / 64 + 1;
  uncolored_.for_each_word([&](std::size_t at) {
    uncolored_count_ += count_bits(uncolored_.word(at));
    const auto word = static_cast<std::int32_t>(at);
    beside_.insert(word);
    beside_.insert(word == 0 ? words - 1 : word - 1);
    beside_.insert(word == words - 1 ? 0 : word + 1);
  });
}

void TreeColoring::paint_subtrees() {
  for (const std::int32_t rank : dead_ranks_)
    if (is_colored(rank)) paint_subtree(node_of(rank));
  for (const std::int32_t rank : dead_ranks_) {
    const std::int32_t parent = parents_[static_cast<std::size_t>(node_of(rank))];
    if (parent >= 0 && is_colored(rank_of(parent))) ++dead_children_;
  }
}

void TreeColoring::paint_stretches() {
  uncolored_nodes_.clear();
  for (const std::int32_t rank : dead_ranks_) uncolored_nodes_.insert(node_of(rank));
  for (const Stretch& stretch : stretches_) paint_stretch(stretch);
  for (std::int32_t rank = 0; rank < procs_; rank += 64) {
    const auto at = static_cast<std::size_t>(rank) / 64;
    uncolored_.insert_word(at, uncolored_nodes_.window(node_of(rank), procs_) & valid_word(at));
  }
}

void TreeColoring::paint_stretch(const Stretch& stretch) {
  for (std::int32_t first = stretch.begin & ~63; first < stretch.end; first += 64) {
    const std::int32_t skipped = std::max(stretch.begin - first, 0);
    std::uint64_t stretched = ~std::uint64_t{0} << skipped;
    if (stretch.end - first < 64) stretched &= (std::uint64_t{1} << (stretch.end - first)) - 1;
    const std::int32_t parent = stretch.parents + (first + skipped - stretch.begin);
    const std::uint64_t orphans = uncolored_nodes_.row(parent) << skipped & stretched;
    const auto at = static_cast<std::size_t>(first) / 64;
    dead_children_ += count_bits(uncolored_nodes_.word(at) & stretched & ~orphans);
    uncolored_nodes_.insert_word(at, orphans);
  }
}

Time TreeColoring::end() const {
  return std::find_if(by_time_.begin(), by_time_.end(),
                      [this](const Colored& colored) { return is_colored(colored.rank); })
      ->at;
}

}  // namespace resprout::sim
