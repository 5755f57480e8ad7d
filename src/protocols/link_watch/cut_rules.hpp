// Who goes for a data link that is silent though both its ends live: the two ends cannot both stay,
// since what one sends the other never gets.
//
// Of the two hosts, the one goes that has silent links with more hosts; if that is equal, the one
// with fewer living ranks; then the one with the higher lowest rank. So a host that is cut off
// loses its ranks, and not all others theirs; and of two halves one goes on.
//
// Invariants
//  1. Of each silent link at most one end is told to go by one decision, and no third process.
//  2. One process decides on a link: the lowest living rank that is not one of its ends, if there
//     is one. Should two of them do so (they know of different losses), both ends may go; that both
//     stay cannot be.
//
// Thread rule: a value.
#pragma once

#include <cstdint>

namespace resprout::protocols {

struct SilentLink {
  int low, high;  // the ranks at its ends
};

// What one process knows. `links`: what has `low` and `high`, as a SilentLink; host_of(rank): the
// lowest rank on its host; is_alive(rank). REQUIRES: they outlive this.
template <typename Links, typename HostOf, typename IsAlive>
class CutRules {
 public:
  CutRules(int procs, const Links& links, const HostOf& host_of, const IsAlive& is_alive)
      : procs_(procs), links_(links), host_of_(host_of), is_alive_(is_alive) {}

  // Whether anything is left to be decided.
  bool is_open(const SilentLink& link) const { return is_alive_(link.low) && is_alive_(link.high); }
  // Who decides on it. REQUIRES: it is open.
  int judge_of(const SilentLink& link) const {
    for (int rank = 0; rank < procs_; ++rank)
      if (is_alive_(rank) && rank != link.low && rank != link.high) return rank;
    return link.low;
  }
  // The end that has to go. REQUIRES: it is open.
  int loser_of(const SilentLink& link) const {
    return goes_before(host_of_(link.low), host_of_(link.high)) ? link.low : link.high;
  }

 private:
  bool goes_before(int host, int other) const {
    const int silent = silent_hosts(host) - silent_hosts(other);
    if (silent != 0) return silent > 0;
    const int living_more = living(host) - living(other);
    if (living_more != 0) return living_more < 0;
    return host > other;
  }

  // With how many hosts it has, or had, silent links.
  int silent_hosts(int host) const {
    int count = 0;
    for (int other = 0; other < procs_; ++other) count += is_host(other) && are_cut(host, other);
    return count;
  }
  bool is_host(int rank) const { return host_of_(rank) == rank; }
  bool are_cut(int host, int other) const {
    for (const auto& link : links_) {
      const int low = host_of_(link.low);
      const int high = host_of_(link.high);
      if ((low == host && high == other) || (low == other && high == host)) return true;
    }
    return false;
  }

  int living(int host) const {
    int count = 0;
    for (int rank = 0; rank < procs_; ++rank) count += host_of_(rank) == host && is_alive_(rank);
    return count;
  }

  int procs_;
  const Links& links_;
  const HostOf& host_of_;
  const IsAlive& is_alive_;
};

}  // namespace resprout::protocols
