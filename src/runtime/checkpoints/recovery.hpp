// To which checkpoint a job goes back, and who has the part of whom: decided by each rank for
// itself, from what all have.
//
// Invariants
//  1. All that are given the same holdings decide the same.
//  2. What is gone back to is whole: somebody has the part of each rank, or it follows from an XOR
//     code of which all else is there.
//
// Thread rule: pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/checkpoints/xor_code.hpp"

namespace resprout::runtime {

// Where a part of a checkpoint lies; the lower one is read sooner.
enum class Held : std::int32_t { own_memory = 0, other_memory = 1, file = 2, code = 3 };

// `holder` has the part of `owner` in this generation, and it is whole. Travels as it stands.
struct Holding {
  std::int32_t holder = 0;
  std::int32_t owner = 0;
  Held place = Held::own_memory;
  std::int32_t unused = 0;
  std::uint64_t generation = 0;
  std::uint64_t counted = 0;  // as ImageName has it
  std::uint64_t bytes = 0;    // how long it is
};

// A group of an XOR code, as it was when its parts were written. Travels as it stands.
struct CodeGroup {
  std::uint64_t count = 0;
  std::array<std::int32_t, code_members_max> members{};  // ranks, ascending
  std::array<std::uint64_t, code_members_max> bytes{};   // how long the part of each is

  std::span<const std::int32_t> ranks() const { return std::span(members).first(count); }
  std::span<const std::uint64_t> lengths() const { return std::span(bytes).first(count); }
  bool operator==(const CodeGroup&) const = default;
};

// `holder` has what `keeper`, a member, keeps of the code of this generation. Travels as it stands.
struct CodeHolding {
  std::int32_t holder = 0;
  std::int32_t keeper = 0;
  std::uint64_t generation = 0;
  std::uint64_t counted = 0;
  CodeGroup group;
};

// The part of `owner` follows from those of the others of `group`, and from what they keep.
struct Rebuilt {
  int owner = 0;
  CodeGroup group;
  std::vector<int> holders;  // of what each member keeps; the owner's place: -1
};

struct Recovery {
  std::uint64_t generation = 0;    // the newest that is whole; 0: none is
  std::vector<Holding> of_owners;  // one for each rank; empty, if none is whole. Held::code: see
  std::vector<Rebuilt> rebuilt;    // one for each of these, ascending
  std::uint64_t newest = 0;        // of which there is any part
  std::uint64_t counted = 0;       // the newest that is known to have been whole
  std::vector<int> lost;           // if none is whole: who has no part in the newest that was
};

Recovery find_recovery(std::span<const Holding> holdings, std::span<const CodeHolding> codes,
                       int ranks);

}  // namespace resprout::runtime
