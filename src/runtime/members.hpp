// Who takes part in an operation: the ranks of a communicator without those that an earlier
// operation, on which all agreed, has left out.
//
// Machines count members 0 .. size-1, the transport speaks of world ranks, the program of ranks of
// its communicator; this is where the three meet. Immutable and shared by operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "core/rank.hpp"

namespace resprout::runtime {

struct Member {
  int comm_rank;
  int world_rank;
};

class Members {
 public:
  // REQUIRES: ascending comm_rank; `self_comm_rank` is among them.
  Members(std::vector<Member> members, int self_comm_rank) : members_(std::move(members)) {
    self_ = index_of_comm_rank(self_comm_rank);
    int world_max = 0;
    std::uint64_t digest = 0;
    for (const Member& member : members_) {
      world_max = std::max(world_max, member.world_rank);
      digest ^= static_cast<std::uint64_t>(member.world_rank);
      digest = splitmix64(digest);
    }
    view_ = static_cast<std::uint16_t>(digest);
    by_world_.assign(static_cast<std::size_t>(world_max) + 1, no_rank);
    for (int i = 0; i < size(); ++i)
      by_world_[static_cast<std::size_t>(world_rank(rank_at(i)))] = rank_at(i);
  }

  int size() const { return static_cast<int>(members_.size()); }
  Rank self() const { return self_; }
  // What tells these members from others, as frames say it: the same number means the same members,
  // who know the same of what has failed among them (but for one case in 65,536).
  std::uint16_t view() const { return view_; }
  int world_rank(Rank rank) const { return at(rank).world_rank; }
  int comm_rank(Rank rank) const { return at(rank).comm_rank; }

  // no_rank if it is not a member.
  Rank index_of_world_rank(int world_rank) const {
    const auto i = static_cast<std::size_t>(world_rank);
    return i < by_world_.size() ? by_world_[i] : no_rank;
  }
  Rank index_of_comm_rank(int comm_rank) const {
    const auto it = std::lower_bound(
        members_.begin(), members_.end(), comm_rank,
        [](const Member& member, int wanted) { return member.comm_rank < wanted; });
    if (it == members_.end() || it->comm_rank != comm_rank) return no_rank;
    return rank_at(static_cast<int>(it - members_.begin()));
  }

  // The members without `excluded` (member indices, any order).
  std::shared_ptr<const Members> without(const std::vector<Rank>& excluded) const {
    std::vector<Member> rest;
    for (int i = 0; i < size(); ++i)
      if (std::find(excluded.begin(), excluded.end(), rank_at(i)) == excluded.end())
        rest.push_back(at(rank_at(i)));
    return std::make_shared<const Members>(std::move(rest), comm_rank(self_));
  }
  // The same ones after the operation with this number, of which the lost may know something else.
  std::shared_ptr<const Members> after(std::uint64_t number) const {
    auto same = std::make_shared<Members>(*this);
    std::uint64_t digest = view_ ^ number << 16;
    same->view_ = static_cast<std::uint16_t>(splitmix64(digest));
    return same;
  }

 private:
  const Member& at(Rank rank) const { return members_[static_cast<std::size_t>(index(rank))]; }

  std::vector<Member> members_;
  std::vector<Rank> by_world_;
  Rank self_ = no_rank;
  std::uint16_t view_ = 0;
};

}  // namespace resprout::runtime
