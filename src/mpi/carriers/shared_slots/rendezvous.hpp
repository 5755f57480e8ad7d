// Gathers, scatters and exchanges of few bytes: a rendezvous over shared slots, to which each
// member brings what it gives (shared_slots.hpp), or less than that. Nothing is written into a
// receive buffer unless everybody has all.
//
// Each of these returns what the call returns, or nothing: it is for somebody else to carry. All
// members get the same answer. REQUIRES: call.is_ours().
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/datatypes/pieces.hpp"

namespace resprout::shim {

// `largest`: the most that any member gives, in bytes, as all know. `mine`: what this one gives.
// `into`: where what each rank gives belongs; empty where nothing is received. `except`: the rank
// whose elements are there already, or -1.
std::optional<int> gather_in_rendezvous(CollectiveCall& call, Kind kind, std::size_t largest,
                                        const Piece& mine, const std::vector<Piece>& into,
                                        int except);
// The same to a root, of `bytes` each: read on demand once all are known to take part, if they fit
// into slots (gathers.hpp).
std::optional<int> gather_small(CollectiveCall& call, std::size_t bytes, int root,
                                const Piece& mine, const std::vector<Piece>& into, int except);
// `row`: where what the root gives to each rank is, one behind the other, of `bytes` each; only at
// the root. `into`: without elements where nothing is received.
std::optional<int> scatter_in_rendezvous(CollectiveCall& call, int root, std::size_t bytes,
                                         const std::vector<Piece>& row, const Piece& into);
// Each pair of ranks exchanges `bytes`.
std::optional<int> exchange_in_rendezvous(CollectiveCall& call, std::size_t bytes,
                                          const std::vector<Piece>& from,
                                          const std::vector<Piece>& into);

}  // namespace resprout::shim
