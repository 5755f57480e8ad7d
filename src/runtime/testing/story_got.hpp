// What processes of stories (story.hpp) give to steps, and get of them.
#pragma once

#include <map>

#include "runtime/blocks.hpp"
#include "runtime/session.hpp"
#include "runtime/testing/part.hpp"
#include "runtime/testing/story.hpp"

namespace resprout::runtime::testing {

// Of this process, among all of the job.
inline int world_rank_of_self(const Session& session) {
  return session.everybody().world_rank(session.everybody().self());
}
// A rank of the session's communicator, among all of the job.
inline int world_rank_of(const Session& session, int rank) {
  return session.everybody().world_rank(rank_at(rank));
}

// What a process got of a step. Ranks are those of the job.
struct Got {
  bool is_otherwise = false;
  std::uint64_t ranks = 0;         // whose parts are in it; none: it was not delivered
  std::uint64_t contributors = 0;  // as the session says
  bool is_good = true;             // and all of this step
  bool is_begun_revoked = false;   // in a session that was revoked before
  bool is_revoked = false;         // when it ended: it means nothing
  bool has_ended = false;

  void take(const Step& what, std::size_t step, std::span<const std::byte> payload) {
    const Part part = Part::from(payload);
    ranks = part.ranks;
    is_good =
        Payload::is_whole(payload, what.bytes) &&
        (what.is_broadcast() ? part.stamp == Part::stamp_of(step)
                             : part.is_sum_of(step) && (!what.is_ordered || part.is_in_order()));
  }
  void take_row(const Session& session, const Step& what, std::size_t step,
                std::span<const std::byte> row) {
    BlockReader reader(row);
    int last = -1;
    while (const auto block = reader.next()) {
      const Part part = Part::from(block->data);
      const Part given = Part::of(world_rank_of(session, block->rank), block->rank, step);
      is_good = is_good && part.ranks == given.ranks && part.stamp == given.stamp &&
                Payload::is_whole(block->data, what.bytes) &&
                (what.is_gather() || block->rank > last);
      last = block->rank;
      ranks += part.ranks;
    }
  }
  // Of a scan: blocks that are added in the order of their ranks. Those above this process are in
  // no sum of its, and left out of none.
  void take_sums(const Session& session, const Step& what, std::size_t step,
                 std::span<const std::byte> row) {
    std::map<int, Part> parts;
    BlockReader reader(row);
    while (const auto block = reader.next()) {
      parts[block->rank] = Part::from(block->data);
      is_good = is_good && Payload::is_whole(block->data, what.bytes);
    }
    Part sum;
    for (const auto& [rank, part] : parts) sum += part;
    is_good = is_good && sum.is_sum_of(step) && sum.is_in_order();
    ranks = sum.ranks;
    const int self = session.everybody().comm_rank(session.everybody().self());
    for (int rank = self + 1; rank < session.everybody().size(); ++rank)
      ranks += std::uint64_t{1} << world_rank_of(session, rank);
  }
  void end(const Session& session) {
    for (const int rank : session.contributors().ranks())
      contributors += std::uint64_t{1} << world_rank_of(session, rank);
    is_revoked = session.is_revoked();
    has_ended = true;
  }
};

inline int self_of(const Session& session) {
  return session.everybody().comm_rank(session.everybody().self());
}

inline Part part_of(const Session& session, std::size_t step, std::size_t slice = 0) {
  return Part::of(world_rank_of_self(session), self_of(session), step, slice);
}

inline Buffer row_of(Session& session, const Payload& payload) {
  Buffer row = session.allocate(block_bytes(payload.bytes().size()));
  BlockWriter({row.data(), row.size()}).put(self_of(session), payload.bytes());
  return row;
}

inline ReduceSpec reduce_spec(const Step& what) {
  return what.is_star ? ReduceSpec::star() : ReduceSpec{};
}
inline BroadcastSpec broadcast_spec(const Step& what) {
  return what.is_star ? BroadcastSpec::star() : BroadcastSpec{};
}

}  // namespace resprout::runtime::testing
