// Cartesian grids of derived communicators, whose handles have no topology in the MPI library.
// Coordinates and ranks in row-major order, as MPI has them (MPI 3.1, chapter 7).
#pragma once

#include <optional>
#include <vector>

namespace resprout::shim {

struct Grid {
  std::vector<int> dims;
  std::vector<int> periods;  // 0: it ends at its borders

  int size() const;
  std::vector<int> coordinates_of(int rank) const;
  // MPI_PROC_NULL: beyond a border. REQUIRES: as many as dims.
  int rank_at(const int coordinates[]) const;
  // Without the dimensions for which `remain` is 0; the ranks that differ from `rank` in the others
  // alone, in their order.
  Grid sub(const int remain[]) const;
  std::vector<int> ranks_beside(int rank, const int remain[]) const;
};

// Nothing if these are no dimensions.
std::optional<Grid> make_grid(int ndims, const int dims[], const int periods[]);

}  // namespace resprout::shim
