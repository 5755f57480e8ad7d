// Counts of MPI_Count, and displacements of MPI_Aint, as the ints of the calls that are ours.
#pragma once

#include <mpi.h>

#include <limits>
#include <vector>

namespace resprout::shim {

template <typename Count>
bool fits(Count count) {
  return count >= std::numeric_limits<int>::min() && count <= std::numeric_limits<int>::max();
}

// How many counts an array has: one for each member, of the other group where there are two.
inline int counts_in(MPI_Comm comm) {
  int size = 0;
  int is_inter = 0;
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return 0;
  is_inter != 0 ? PMPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size);
  return size;
}

// The same of an array that only the root has.
inline int counts_at_root(MPI_Comm comm, int root) {
  int rank = 0;
  int is_inter = 0;
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return 0;
  if (is_inter != 0) return root == MPI_ROOT ? counts_in(comm) : 0;
  MPI_Comm_rank(comm, &rank);
  return rank == root ? counts_in(comm) : 0;
}

class Narrowed {
 public:
  // `values` may be null.
  template <typename Count>
  Narrowed(const Count* values, int count) : is_there_(values != nullptr) {
    if (!is_there_) return;
    for (int i = 0; i < count; ++i) {
      fits_ = fits_ && shim::fits(values[i]);
      narrow_.push_back(static_cast<int>(values[i]));
    }
    if (narrow_.empty()) narrow_.push_back(0);  // it is not to be null
  }

  bool fits() const { return fits_; }
  const int* data() const { return is_there_ ? narrow_.data() : nullptr; }

 private:
  bool is_there_;
  bool fits_ = true;
  std::vector<int> narrow_;
};

}  // namespace resprout::shim
