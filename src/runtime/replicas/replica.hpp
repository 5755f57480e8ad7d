// Which process of a replicated job: a name.
// Thread rule: values.
#pragma once

#include <compare>
#include <cstdint>

namespace resprout::runtime {

// The copy of world rank `rank` in `plane`.
struct Replica {
  std::int32_t plane = 0;
  std::int32_t rank = 0;

  constexpr auto operator<=>(const Replica&) const = default;
};

}  // namespace resprout::runtime
