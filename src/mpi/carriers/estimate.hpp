// How a rank's earlier contributions, the oldest first, are weighted to estimate the next one that
// it does not give. FTCO, section 7: "estimating missing data". Thread rule: pure.
#pragma once

#include <cstddef>
#include <vector>

namespace resprout::shim {

// So many contributions are remembered of a rank.
inline constexpr std::size_t remembered_max = 8;

// Their mean. REQUIRES: count > 0, as below.
std::vector<double> mean_weights(std::size_t count);
// What the straight line through them, by least squares, has `steps` operations after the last one.
std::vector<double> linear_weights(std::size_t count, std::size_t steps);

}  // namespace resprout::shim
