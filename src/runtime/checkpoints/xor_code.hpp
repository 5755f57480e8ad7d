// A part of an XOR code instead of a copy: who is in a group with whom, and which bytes go where.
//
// A group has n members. What a member protects, with zeros behind it up to the longest of the
// group, is cut into n - 1 chunks of one length. Each member keeps the XOR of one chunk of each
// other member. So what one member had, its own part and its XOR, follows from what the others
// have.
//
// Invariants
//  1. Every chunk of a member is kept by exactly one of the others.
//  2. No host has two members of a group, unless a host has more ranks than there are groups.
//
// Thread rule: pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/checkpoints/changed_blocks.hpp"

namespace resprout::runtime {

constexpr int code_members_max = 16;

// All ranks, in groups of at most `size` members, ascending. None has one member: a group may have
// one more than `size`, if that is 2. `hosts`: of each rank, any numbers. No groups: there is one
// rank. REQUIRES: 2 <= size <= code_members_max.
std::vector<std::vector<int>> code_groups(std::span<const int> hosts, int size);

// Which chunk of a member another one keeps. REQUIRES: they differ.
constexpr int chunk_kept_by(int keeper, int member) {
  return keeper < member ? keeper : keeper - 1;
}

// How long a chunk is, if the longest member has so many bytes: a multiple of 8.
std::size_t chunk_bytes(std::size_t longest, std::size_t members);

// What of a member of `bytes` bytes lies in `piece` of this chunk of its: nothing behind its end.
// `piece`: from the begin of the chunk on.
ByteRange bytes_in_chunk(int chunk, std::size_t chunk_bytes, const ByteRange& piece,
                         std::size_t bytes);

}  // namespace resprout::runtime
