// Which data links are silent though both their ends live, and who has to go for it.
//
// Who decides and which end goes is protocols/link_watch/cut_rules.hpp.
//
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocols/link_watch/cut_rules.hpp"
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
    const auto host_of = [this](int rank) { return host(rank); };
    const auto is_alive = [&roster](int rank) { return roster.is_alive(rank); };
    const protocols::CutRules rules(roster.size(), links_, host_of, is_alive);
    for (const Link& link : links_) {
      const protocols::SilentLink ends{link.low, link.high};
      const bool is_due = rules.is_open(ends) && now - link.noted_at >= window &&
                          rules.judge_of(ends) == roster.self();
      if (!is_due) continue;
      const int loser = rules.loser_of(ends);
      return Verdict{loser, link.low + link.high - loser};
    }
    return std::nullopt;
  }

 private:
  struct Link {
    int low, high;
    std::int64_t noted_at;
  };

  int host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

  std::vector<int> hosts_;
  std::vector<Link> links_;
};

}  // namespace resprout::runtime
