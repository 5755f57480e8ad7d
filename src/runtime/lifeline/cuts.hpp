// Which data links are silent though both their ends live, and who has to go for it.
//
// The two ends cannot both stay: what one sends the other never gets. Of the two hosts, the one
// goes that has silent links with more hosts; if that is equal, the one with fewer living ranks;
// then the one with the higher lowest rank. So a host that is cut off loses its ranks, and not all
// others theirs; and of two halves one goes on.
//
// Invariants
//  1. Of each silent link at most one end is told to go by one decision, and no third process.
//  2. One process decides on a link: the lowest living rank that is not one of its ends, if there
//     is one. Should two of them do so (they know of different losses), both ends may go; that both
//     stay cannot be.
//
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/lifeline/roster.hpp"

namespace resprout::runtime {

class Cuts {
 public:
  struct Verdict {
    int rank;      // has to go
    int found_by;  // the other end
  };

  Cuts() = default;
  // `hosts[r]`: the host of rank r, as the lowest rank on it.
  explicit Cuts(std::vector<int> hosts) : hosts_(std::move(hosts)) {}

  // The link between the two is silent. Once or often, in any order.
  void note(int one, int other, std::int64_t now) {
    const Link link{std::min(one, other), std::max(one, other), now};
    const bool is_known = std::ranges::any_of(links_, [&](const Link& known) {
      return known.low == link.low && known.high == link.high;
    });
    if (!is_known && host(one) != host(other)) links_.push_back(link);
  }

  // Who has to go by the decision of `roster.self()`, for a link that was noted `window` ago: by
  // then the others that are due have been noted, too.
  std::optional<Verdict> verdict(const Roster& roster, std::int64_t now,
                                 std::int64_t window) const {
    for (const Link& link : links_) {
      const bool is_due = roster.is_alive(link.low) && roster.is_alive(link.high) &&
                          now - link.noted_at >= window && judge_of(link, roster) == roster.self();
      if (!is_due) continue;
      const bool low_goes = goes_before(host(link.low), host(link.high), roster);
      return low_goes ? Verdict{link.low, link.high} : Verdict{link.high, link.low};
    }
    return std::nullopt;
  }

 private:
  struct Link {
    int low, high;
    std::int64_t noted_at;
  };

  int host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

  static int judge_of(const Link& link, const Roster& roster) {
    for (int rank = 0; rank < roster.size(); ++rank)
      if (roster.is_alive(rank) && rank != link.low && rank != link.high) return rank;
    return link.low;
  }

  bool goes_before(int host, int other, const Roster& roster) const {
    const auto worth = [&](int of) { return std::tuple(-silent_hosts(of), living(of, roster)); };
    if (worth(host) != worth(other)) return worth(host) < worth(other);
    return host > other;
  }

  // With how many hosts it has, or had, silent links.
  int silent_hosts(int of) const {
    std::set<int> others;
    for (const Link& link : links_) {
      if (host(link.low) == of) others.insert(host(link.high));
      if (host(link.high) == of) others.insert(host(link.low));
    }
    return static_cast<int>(others.size());
  }

  int living(int of, const Roster& roster) const {
    int count = 0;
    for (int rank = 0; rank < roster.size(); ++rank)
      if (host(rank) == of && roster.is_alive(rank)) ++count;
    return count;
  }

  std::vector<int> hosts_;
  std::vector<Link> links_;
};

}  // namespace resprout::runtime
