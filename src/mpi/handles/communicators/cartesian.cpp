#include "mpi/handles/communicators/cartesian.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

namespace resprout::shim {

int Grid::size() const { return std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>()); }

std::vector<int> Grid::coordinates_of(int rank) const {
  std::vector<int> coordinates(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    coordinates[i] = rank % dims[i];
    rank /= dims[i];
  }
  return coordinates;
}

int Grid::rank_at(const int coordinates[]) const {
  int rank = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    int coordinate = coordinates[i];
    const bool is_inside = coordinate >= 0 && coordinate < dims[i];
    if (!is_inside && periods[i] == 0) return MPI_PROC_NULL;
    if (!is_inside) coordinate = (coordinate % dims[i] + dims[i]) % dims[i];
    rank = rank * dims[i] + coordinate;
  }
  return rank;
}

Grid Grid::sub(const int remain[]) const {
  Grid kept;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (remain[i] == 0) continue;
    kept.dims.push_back(dims[i]);
    kept.periods.push_back(periods[i]);
  }
  return kept;
}

std::vector<int> Grid::ranks_beside(int rank, const int remain[]) const {
  const std::vector<int> own = coordinates_of(rank);
  std::vector<int> ranks;
  for (int other = 0; other < size(); ++other) {
    const std::vector<int> coordinates = coordinates_of(other);
    bool is_beside = true;
    for (std::size_t i = 0; i < dims.size(); ++i)
      is_beside = is_beside && (remain[i] != 0 || coordinates[i] == own[i]);
    if (is_beside) ranks.push_back(other);
  }
  return ranks;
}

std::optional<Grid> make_grid(int ndims, const int dims[], const int periods[]) {
  if (ndims < 0) return std::nullopt;
  std::int64_t size = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 1) return std::nullopt;
    size *= dims[i];
    if (size > std::numeric_limits<int>::max()) return std::nullopt;
  }
  return Grid{{dims, dims + ndims}, {periods, periods + ndims}};
}

}  // namespace resprout::shim
