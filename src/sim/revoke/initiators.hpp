// Who revokes, and when, as text.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/revoke/revoker.hpp"

namespace resprout::sim {

inline constexpr std::string_view root_revokes = "root";

// By rank: root (that rank alone, at 0) | none | RANK[@T],... (at T, else at 0). The error is one
// line. REQUIRES: 0 <= root < procs.
std::variant<std::vector<Revocation>, std::string> parse_initiators(std::string_view text,
                                                                    std::int32_t procs, Rank root);

}  // namespace resprout::sim
