// Which protocol, with which parameters, carries which operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocols/corrected_tree/config.hpp"
#include "runtime/operation.hpp"

namespace resprout::runtime {

// Among up to so many processes that share memory a star is the best tree: everybody exchanges
// messages with the root itself, so nobody waits for a third process to get a processor.
inline constexpr std::int32_t star_ranks_max = 16;

struct ReduceSpec {
  std::int32_t radix = 2;  // of the k-nomial tree

  static constexpr ReduceSpec star() { return {star_ranks_max}; }
  // Everybody contributes to the root itself, which groups the contributions as a binomial tree
  // would: results do not depend on the tree.
  constexpr bool is_star(std::int32_t procs) const { return radix >= procs; }
};

struct BroadcastSpec {
  topology::Shape shape = topology::Shape::binomial;  // grown: a Lame tree of order `arity`
  topology::Numbering numbering = topology::Numbering::interleaved;
  std::int32_t arity = 2;
  protocols::CorrectionRules correction{.kind = protocols::Correction::optimized_opportunistic,
                                        .distance = 1};
  protocols::EarlyPolicy early = protocols::EarlyPolicy::join;
  std::uint32_t gossip_rounds = 0;  // gossip takes the place of the tree; 0: it does not
  // How long an uncolored process that may be missed waits before it asks the root. The root may be
  // late; asking it costs it a payload for nothing if the tree or the gossip was merely slow.
  Duration patience_ns = 1000000;

  // Nobody stands between the root and another process whom a correction could replace.
  static constexpr BroadcastSpec star() {
    BroadcastSpec spec;
    spec.shape = topology::Shape::kary;
    spec.arity = star_ranks_max - 1;
    spec.correction.kind = protocols::Correction::none;
    return spec;
  }
  // The root's messages to all others, one each, are all there are while nobody is lost.
  constexpr bool is_star(std::int32_t procs) const {
    return shape == topology::Shape::kary && arity >= procs - 1 && gossip_rounds == 0 &&
           correction.kind == protocols::Correction::none;
  }
  // Something in it waits for a moment, though nobody may be lost.
  constexpr bool needs_clock() const {
    return correction.kind == protocols::Correction::delayed ||
           (gossip_rounds != 0 && protocols::tolerated_failures(correction) < 0);
  }
};

// `root`: who collects; contributions are folded in the order of ranks only at rank 0. Elsewhere
// the root's own comes first, then those behind it, and round to it.
std::unique_ptr<Operation> make_allreduce(Operation::Setup setup, const ReduceSpec& spec,
                                          Rank root = rank_at(0));
// An allreduce whose result is the same also at those who die with it: agreement.md. It folds in
// the order of ranks, over the tree alone.
std::unique_ptr<Operation> make_agreement(Operation::Setup setup, const ReduceSpec& spec);
std::unique_ptr<Operation> make_reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root);
// A scan along the ranks: each gets the rows of those below it, and its own. `is_summed`: the input
// stands for those below, too.
std::unique_ptr<Operation> make_prefix_chain(Operation::Setup setup, bool is_summed);
std::unique_ptr<Operation> make_broadcast(Operation::Setup setup, const BroadcastSpec& spec,
                                          Rank root);

}  // namespace resprout::runtime
