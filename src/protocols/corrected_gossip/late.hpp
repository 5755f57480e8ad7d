// What a process does that gossip reaches after its end.
// Thread rule: a value.
#pragma once

#include <cstdint>

namespace resprout::protocols {

// correct: as who was reached in time; end: it sends nothing, like who is colored by a correction.
enum class Late : std::uint8_t { correct, end };

}  // namespace resprout::protocols
