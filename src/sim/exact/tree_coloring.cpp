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
      uncolored_nodes_(dead_.words().size()),
      orphans_(dead_.words().size()),
      colors_(dead_.words().size() + 1, ~std::uint64_t{0}),
      beside_(dead_.used().size()) {
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
  uncolored_.for_each_word([this](std::size_t at) { colors_[at + 1] = ~std::uint64_t{0}; });
  dead_.clear();
  uncolored_.clear();
  if (!stretches_.empty() && deaths.size() > static_cast<std::size_t>(procs_) / 512)
    paint_stretches(deaths);
  else
    paint_subtrees(deaths);
  update_colors();
}

// The others are as if nobody were dead.
void TreeColoring::update_colors() {
  find_beside();
  uncolored_count_ = 0;
  for_each_run_beside([this](std::size_t begin, std::size_t end) {
    const auto uncolored = uncolored_.words().subspan(begin, end - begin);
    uncolored_count_ += count_bits(uncolored);
    std::transform(uncolored.begin(), uncolored.end(),
                   colors_.begin() + 1 + static_cast<std::ptrdiff_t>(begin),
                   [](std::uint64_t word) { return ~word; });
  });
  if (procs_ < 128) return;
  const auto rest = static_cast<std::uint32_t>(procs_) % 64;
  const std::size_t last = words();
  colors_[0] = ~uncolored_.row(procs_ - 64);
  colors_[last + 1] = colors_[1];
  if (rest == 0) return;
  const std::uint64_t ranks = (std::uint64_t{1} << rest) - 1;
  colors_[last] = (~uncolored_.word(last - 1) & ranks) | colors_[1] << rest;
  colors_[last + 1] = colors_[1] >> (64 - rest) | colors_[2] << rest;
}

void TreeColoring::find_beside() {
  const std::span<const std::uint64_t> used = uncolored_.used();
  // One long run costs less than many short ones.
  if (static_cast<std::size_t>(count_bits(used)) > words() / 8) uncolored_.all_words();
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    beside_[i] = used[i] | used[i] << 1 | used[i] >> 1;
    if (i > 0) beside_[i] |= used[i - 1] >> 63;
    if (i + 1 < beside_.size()) beside_[i] |= used[i + 1] << 63;
  }
  const std::size_t last = words() - 1;
  const std::uint64_t last_bit = std::uint64_t{1} << (last % 64);
  if ((used[last / 64] & last_bit) != 0) beside_[0] |= 1;
  if ((used[0] & 1) != 0) beside_[last / 64] |= last_bit;
  beside_[last / 64] &= last_bit | (last_bit - 1);
  std::fill(beside_.begin() + static_cast<std::ptrdiff_t>(last / 64 + 1), beside_.end(), 0);
}

void TreeColoring::paint_subtrees(std::span<const Death> deaths) {
  dead_ranks_.clear();
  for (const Death& death : deaths)
    if (dead_.insert(index(death.rank))) dead_ranks_.push_back(index(death.rank));
  dead_count_ = static_cast<std::int32_t>(dead_ranks_.size());
  for (const std::int32_t rank : dead_ranks_)
    if (is_colored(rank)) paint_subtree(node_of(rank));
  dead_children_ = 0;
  for (const std::int32_t rank : dead_ranks_) {
    const std::int32_t parent = parents_[static_cast<std::size_t>(node_of(rank))];
    if (parent >= 0 && is_colored(rank_of(parent))) ++dead_children_;
  }
}

void TreeColoring::paint_stretches(std::span<const Death> deaths) {
  const std::span<std::uint64_t> dead = dead_.all_words();
  for (const Death& death : deaths) {
    const auto [at, bit] = place_of(index(death.rank));
    dead[at] |= std::uint64_t{1} << bit;
  }
  dead_count_ = count_bits(dead);
  std::fill(orphans_.begin(), orphans_.end(), 0);
  if (root_ == 0) {
    std::copy(dead.begin(), dead.end(), uncolored_nodes_.begin());
  } else {
    std::fill(uncolored_nodes_.begin(), uncolored_nodes_.end(), 0);
    for (const Death& death : deaths) {
      const auto [at, bit] = place_of(node_of(index(death.rank)));
      uncolored_nodes_[at] |= std::uint64_t{1} << bit;
    }
  }
  for (const Stretch& stretch : stretches_) paint_stretch(stretch);
  // Who is uncolored, but not because of its parent, is the top of an uncolored subtree.
  dead_children_ = count_bits(uncolored_nodes_) - count_bits(orphans_);
  const std::span<std::uint64_t> ranks = uncolored_.all_words();
  if (root_ == 0) {
    std::copy_n(uncolored_nodes_.begin(), ranks.size(), ranks.begin());
    return;
  }
  for (std::size_t at = 0; at < ranks.size(); ++at)
    ranks[at] = nodes_from(node_of(static_cast<std::int32_t>(at * 64))) & valid_word(at);
}

// 64 of them on the ring. REQUIRES: procs >= 128.
std::uint64_t TreeColoring::nodes_from(std::int32_t node) const {
  const std::uint64_t nodes = row(node);
  return node + 64 <= procs_ ? nodes : nodes | uncolored_nodes_[0] << (procs_ - node);
}

// As far as there are nodes.
std::uint64_t TreeColoring::row(std::int32_t node) const {
  const auto [at, bit] = place_of(node);
  return uncolored_nodes_[at] >> bit | uncolored_nodes_[at + 1] << 1 << (63 - bit);
}

void TreeColoring::paint_stretch(const Stretch& stretch) {
  const std::int32_t first = (stretch.begin + 63) & ~63;
  const std::int32_t last = stretch.end & ~63;
  if (first > last) {
    paint_partly(stretch, stretch.begin & ~63);
    return;
  }
  if (stretch.begin < first) paint_partly(stretch, first - 64);
  // Whole words, whose parents are that many bits behind those of a word.
  auto [from, bit] = place_of(stretch.parents + (first - stretch.begin));
  for (std::size_t at = place_of(first).at; at < place_of(last).at; ++at, ++from) {
    const std::uint64_t orphans = uncolored_nodes_[from] >> bit | uncolored_nodes_[from + 1]
                                                                      << 1 << (63 - bit);
    orphans_[at] = orphans;
    uncolored_nodes_[at] |= orphans;
  }
  if (last < stretch.end) paint_partly(stretch, last);
}

// What the stretch has of the word that begins with that node.
void TreeColoring::paint_partly(const Stretch& stretch, std::int32_t first) {
  const std::int32_t skipped = std::max(stretch.begin - first, 0);
  std::uint64_t stretched = ~std::uint64_t{0} << skipped;
  if (stretch.end - first < 64) stretched &= (std::uint64_t{1} << (stretch.end - first)) - 1;
  const std::int32_t parent = stretch.parents + (first + skipped - stretch.begin);
  const std::uint64_t orphans = row(parent) << skipped & stretched;
  orphans_[place_of(first).at] |= orphans;
  uncolored_nodes_[place_of(first).at] |= orphans;
}

Time TreeColoring::end() const {
  return std::find_if(by_time_.begin(), by_time_.end(),
                      [this](const Colored& colored) { return is_colored(colored.rank); })
      ->at;
}

}  // namespace resprout::sim
