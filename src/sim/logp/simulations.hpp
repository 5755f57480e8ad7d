// How the simulation of each protocol is made, one source file for each.
//
// REQUIRES of all: what Simulation::make checks; the spec is of that protocol.
// Thread rule: pure functions.
#pragma once

#include <memory>

#include "registry/trees.hpp"
#include "sim/logp/simulation.hpp"

namespace resprout::sim {

using Made = std::unique_ptr<Simulation>;

Made make_corrected_tree(const Machinery& machinery, registry::OwnedTree tree);
Made make_reliable_broadcast(const Machinery& machinery, registry::OwnedTree tree);
Made make_reliable_gossip(const Machinery& machinery);
Made make_corrected_gossip(const Machinery& machinery);
Made make_acknowledged_tree(const Machinery& machinery, registry::OwnedTree tree);
Made make_multi_tree(const Machinery& machinery);
Made make_corrected_reduce(const Machinery& machinery, registry::OwnedTree tree);
Made make_reduction(const Machinery& machinery);
Made make_native_until_loss(const Machinery& machinery);
Made make_agree(const Machinery& machinery);
Made make_in_band(const Machinery& machinery);
Made make_membership(const Machinery& machinery);
Made make_digest_vote(const Machinery& machinery);
Made make_decision_log(const Machinery& machinery);
Made make_revoke(const Machinery& machinery);

// So many processes a simulated membership has at most: each keeps sets of all of them.
inline constexpr std::int32_t memberships_max = 4096;
// With local views, which do not depend on how many there are.
inline constexpr std::int32_t local_memberships_max = 1 << 22;

// Of any protocol; null if runs of `machinery` cannot be computed. It has no digest.
Made make_exact(const Machinery& machinery);

}  // namespace resprout::sim
