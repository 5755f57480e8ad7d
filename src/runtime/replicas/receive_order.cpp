#include "runtime/replicas/receive_order.hpp"

#include <algorithm>

#include "core/invariant.hpp"

namespace resprout::runtime {

// Whether some message could be for both.
bool ReceiveOrder::overlap(const Pattern& a, const Pattern& b) {
  const auto meet = [](std::int32_t x, std::int32_t y) { return x == y || x == any || y == any; };
  if (a.source == nobody || b.source == nobody) return false;
  return a.communicator == b.communicator && meet(a.source, b.source) && meet(a.tag, b.tag);
}

const ReceiveOrder::Entry& ReceiveOrder::entry(Ticket ticket) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), ticket,
                       [](const Entry& it, Ticket wanted) { return it.ticket < wanted; });
  RESPROUT_INVARIANT(found != entries_.end() && found->ticket == ticket);
  return *found;
}

bool ReceiveOrder::is_clear_before(Ticket ticket, const Pattern& pattern) const {
  return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& it) {
    return it.ticket < ticket && (!it.is_given || !it.is_decided) && overlap(it.pattern, pattern);
  });
}

bool ReceiveOrder::is_wild(const Pattern& pattern) const {
  if (pattern.source == any) return true;
  return pattern.tag == any && std::any_of(entries_.begin(), entries_.end(), [&](const Entry& it) {
           return it.wildcard != 0 && overlap(it.asked, pattern);
         });
}

bool ReceiveOrder::needs_entry(const Pattern& pattern) const {
  return is_wild(pattern) || !is_clear(pattern);
}

ReceiveOrder::Ticket ReceiveOrder::start(const Pattern& pattern) {
  const bool has_to_be_decided = is_wild(pattern);
  entries_.push_back({++last_, pattern, pattern, 0, !has_to_be_decided, false});
  if (!has_to_be_decided) return last_;
  entries_.back().wildcard = ++wildcards_;
  if (const auto known = unknown_.extract(wildcards_)) decide(known.mapped());
  return last_;
}

void ReceiveOrder::decide(const Match& match) {
  if (match.wildcard > wildcards_) {
    unknown_[match.wildcard] = match;
    return;
  }
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& it) { return it.wildcard == match.wildcard; });
  if (found == entries_.end()) return;  // taken back
  found->is_decided = true;
  found->pattern.source = match.source;
  found->pattern.tag = match.tag;
}

std::optional<ReceiveOrder::Ticket> ReceiveOrder::next_to_give(bool decides) {
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->is_given || at->pattern.source == nobody) continue;
    const auto waits_for = [&](const Entry& earlier) {
      return !earlier.is_given && overlap(earlier.pattern, at->pattern);
    };
    if (!decides && !at->is_decided) continue;
    if (std::any_of(entries_.begin(), at, waits_for)) continue;
    at->is_given = true;
    return at->ticket;
  }
  return std::nullopt;
}

std::optional<ReceiveOrder::Match> ReceiveOrder::match_of(Ticket ticket, std::int32_t source,
                                                          std::int32_t tag) const {
  const Entry& it = entry(ticket);
  if (it.is_decided) return std::nullopt;
  return Match{it.wildcard, source, tag};
}

bool ReceiveOrder::may_complete(Ticket ticket) const {
  const Entry& it = entry(ticket);
  if (!it.is_decided) return false;
  return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
    return other.ticket < ticket && !other.is_decided && overlap(other.pattern, it.pattern);
  });
}

void ReceiveOrder::end(Ticket ticket) {
  std::erase_if(entries_, [&](const Entry& it) { return it.ticket == ticket; });
}

}  // namespace resprout::runtime
