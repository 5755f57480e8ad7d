#include "mpi/carriers/estimate.hpp"

namespace resprout::shim {

std::vector<double> mean_weights(std::size_t count) {
  return std::vector<double>(count, 1.0 / static_cast<double>(count));
}

// A line at x is mean + slope (x - middle), and both are sums of weighted points.
std::vector<double> linear_weights(std::size_t count, std::size_t steps) {
  std::vector<double> weights = mean_weights(count);
  const double middle = static_cast<double>(count - 1) / 2;
  const double ahead = static_cast<double>(count - 1 + steps) - middle;
  double spread = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double from_middle = static_cast<double>(i) - middle;
    spread += from_middle * from_middle;
  }
  if (spread == 0) return weights;
  for (std::size_t i = 0; i < count; ++i)
    weights[i] += ahead * (static_cast<double>(i) - middle) / spread;
  return weights;
}

}  // namespace resprout::shim
