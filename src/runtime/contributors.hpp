// Whose data are in the result of a session's latest operation: all its members but the excluded,
// or the root of a broadcast.
//
// Thread rule: a value, under the engine's lock.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/rank.hpp"
#include "runtime/members.hpp"

namespace resprout::runtime {

class Contributors {
 public:
  // There is no result.
  void clear() { members_.reset(); }
  // `excluded`: ascending. `root`: of a broadcast.
  void set(const std::shared_ptr<const Members>& members, const std::vector<Rank>& excluded,
           Rank root = no_rank) {
    if (members_ != members) members_ = members;
    excluded_ = excluded;
    root_ = root;
  }

  // Ranks of the communicator, ascending.
  std::vector<int> ranks() const {
    std::vector<int> ranks;
    if (members_ == nullptr) return ranks;
    for (int i = 0; i < members_->size(); ++i)
      if (is_one(rank_at(i))) ranks.push_back(members_->comm_rank(rank_at(i)));
    return ranks;
  }

 private:
  bool is_one(Rank rank) const {
    return root_ != no_rank ? rank == root_
                            : !std::binary_search(excluded_.begin(), excluded_.end(), rank);
  }

  std::shared_ptr<const Members> members_;  // null: nobody
  std::vector<Rank> excluded_;
  Rank root_ = no_rank;
};

}  // namespace resprout::runtime
