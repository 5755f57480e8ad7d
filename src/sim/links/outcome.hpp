// What has become of an operation over data links that may be silent, and whether that is what the
// watch over them promises.
// Thread rule: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace resprout::sim {

struct LinksOutcome {
  bool is_survivor = false;  // lives, and nobody was told that it is lost
  bool failed = false;       // has gone on without somebody who had to go
  bool has_ended = false;    // has what all have sent who are not lost
  bool has_died = false;     // by itself
  bool had_to_go = false;    // by somebody's decision
  int host = 0;
};

// 1. Every survivor comes to its end.
// 2. If nobody has died and there is one cut, the ranks of one host go at most.
std::optional<std::string> check_links(std::span<const LinksOutcome> outcomes, int cuts_made);

}  // namespace resprout::sim
