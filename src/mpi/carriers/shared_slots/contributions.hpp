// What members have put into a rendezvous, and how it is combined.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "mpi/carriers/shared_slots/communicator_slots.hpp"
#include "mpi/handles/datatypes/payload.hpp"
#include "runtime/slot_memory.hpp"

namespace resprout::shim {

// What all have put into one that was read.
struct Contributions {
  const runtime::SlotMemory& slots;
  const protocols::SharedSlot slot;
  const std::size_t bytes;

  int count() const { return slots.size(); }
  std::span<const std::byte> of(int member) const {
    return {slots.payload(member, slot, bytes), bytes};
  }
  bool is_right(int member) const { return slots.bytes_of(member, slot, bytes) == bytes; }
};

// The same of those who are not missing, by their place among these.
class SomeContributions {
 public:
  SomeContributions(const Contributions& all, const MemberSet& missing)
      : bytes(all.bytes), all_(all) {
    for (int member = 0; member < all.count(); ++member)
      if (!missing[static_cast<std::size_t>(member)])
        members_[static_cast<std::size_t>(count_++)] = static_cast<MemberByte>(member);
  }
  int count() const { return count_; }
  std::span<const std::byte> of(int place) const { return all_.of(member(place)); }
  bool is_right(int place) const { return all_.is_right(member(place)); }

  const std::size_t bytes;

 private:
  int member(int place) const { return members_[static_cast<std::size_t>(place)]; }

  const Contributions& all_;
  std::array<MemberByte, runtime::SlotPool::members_max> members_;
  int count_ = 0;
};

// What is summed already of `count` members from `first` on; empty: it has to be made.
template <typename Contributed>
std::span<const std::byte> known_sum(const Contributed& all, int first, int count) {
  if constexpr (requires { all.sum(first, count); }) {
    if (const std::span<const std::byte> sum = all.sum(first, count); !sum.empty()) return sum;
  }
  return count == 1 ? all.of(first) : std::span<const std::byte>();
}

// Of `count` members from `first` on, in the grouping of the binomial tree over all, as reductions
// of ours have it: partial results of 1, 2, 4, ... members. `all.of(i)`: what each has given;
// `all.sum(i, n)`, if there is such a function: what n of them have, or nothing. REQUIRES: `into`
// is none of these; each has given something.
template <typename Contributed>
void combine(const Contributed& all, int first, int count, MpiCombiner& combiner,
             std::span<std::byte> into) {
  if (const auto known = known_sum(all, first, count); !known.empty()) {
    std::memcpy(into.data(), known.data(), all.bytes);
    return;
  }
  const int lower = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
  combine(all, first + lower, count - lower, combiner, into);
  if (const auto known = known_sum(all, first, lower); !known.empty()) {
    combiner.combine(known, into);
    return;
  }
  alignas(64) std::array<std::byte, runtime::SlotMemory::rendezvous_bytes_max> storage;
  const std::span partial(storage.data(), all.bytes);
  combine(all, first, lower, combiner, partial);
  combiner.combine(partial, into);
}

// What the call returns.
template <typename Contributed>
int combine_alike(const Contributed& all, const Layout& layout, MPI_Op op, void* recvbuf) {
  bool are_alike = true;
  for (int i = 0; i < all.count(); ++i) are_alike &= all.is_right(i);
  if (!are_alike) return MPI_ERR_TRUNCATE;
  MpiCombiner combiner(op, layout);
  combine(all, 0, all.count(), combiner, {static_cast<std::byte*>(recvbuf), layout.packed_bytes});
  return combiner.code();
}

}  // namespace resprout::shim
