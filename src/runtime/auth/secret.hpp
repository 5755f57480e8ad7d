// The secret that all processes of one job share and nobody else knows.
#pragma once

#include <array>
#include <cstdint>

namespace resprout::runtime::auth {

using Secret = std::array<std::uint8_t, 32>;

// From the kernel's random source. Throws std::system_error if there is none.
Secret new_secret();

}  // namespace resprout::runtime::auth
