// What processes of stories (story.hpp) give to steps, and get of them.
#pragma once

#include "runtime/blocks.hpp"
#include "runtime/session.hpp"
#include "runtime/testing/part.hpp"
#include "runtime/testing/story.hpp"

namespace resprout::runtime::testing {

// What a process got of a step.
struct Got {
  bool is_otherwise = false;
  std::uint64_t ranks = 0;         // whose parts are in it; none: it was not delivered
  std::uint64_t contributors = 0;  // as the session says
  bool is_good = true;             // and all of this step
  bool has_ended = false;

  void take(const Step& what, std::size_t step, const Part& part) {
    ranks = part.ranks;
    is_good = what.is_broadcast() ? part.stamp == Part::stamp_of(step) : part.is_sum_of(step);
  }
  void take_row(std::size_t step, std::span<const std::byte> row) {
    BlockReader reader(row);
    while (const auto block = reader.next()) {
      const Part part = Part::from(block->data);
      const Part given = Part::of(block->rank, step);
      is_good = is_good && part.ranks == given.ranks && part.stamp == given.stamp;
      ranks += part.ranks;
    }
  }
  void end(const Session& session) {
    for (const int rank : session.contributors()) contributors += std::uint64_t{1} << rank;
    has_ended = true;
  }
};

inline int self_of(const Session& session) {
  return session.everybody().comm_rank(session.everybody().self());
}

inline Buffer row_of(Session& session, const Part& part) {
  Buffer row = session.allocate(block_bytes(sizeof part));
  BlockWriter({row.data(), row.size()}).put(self_of(session), bytes_of(part));
  return row;
}

inline ReduceSpec reduce_spec(const Step& what) {
  return what.is_star ? ReduceSpec::star() : ReduceSpec{};
}
inline BroadcastSpec broadcast_spec(const Step& what) {
  return what.is_star ? BroadcastSpec::star() : BroadcastSpec{};
}

}  // namespace resprout::runtime::testing
