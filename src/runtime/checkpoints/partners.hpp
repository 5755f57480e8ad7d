// Which rank keeps a copy of whose checkpoints: one on another host.
//
// Invariants
//  1. Rank and partner are never on one host.
//  2. The ranks of a host have partners on one host, the next one in the order of lowest ranks: so
//     two hosts whose loss at one time is too much are neighbors in this order.
//
// Thread rule: pure.
#pragma once

#include <span>
#include <vector>

namespace resprout::runtime {

// `hosts`: of each rank, any numbers. By rank; all -1 where there is one host.
std::vector<int> partners_of(std::span<const int> hosts);

// The ranks of the host of `rank`, ascending.
std::vector<int> ranks_beside(std::span<const int> hosts, int rank);

}  // namespace resprout::runtime
