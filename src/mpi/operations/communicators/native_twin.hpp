// A communicator of the MPI library's own with the members of one that was made after a loss, for
// what only the library can do: start other processes, or reach those of another job.
//
// Thread rule: as of collectives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace resprout::shim {

// Whether nobody else lives, as far as this process knows: the library's way to a communicator
// after a loss asks all. A member that has just been lost, as some know already, is no reason to
// ask nobody. `members`: ranks in MPI_COMM_WORLD.
bool are_all_who_live(const std::vector<int>& members);

// What the library makes of its own communicators has their handlers, and not the program's.
void inherit_error_handler(MPI_Comm from, MPI_Comm to);

// A communicator of the library's own of all who live, `count` of them; its errors are returned.
// The library hears of a death some 40 ms after it, and counts the dead until then: so it is asked
// again for a while. Null: it comes to another number in the end, or a loss fell into that.
// Collective over all who live.
MPI_Comm communicator_of_living(std::size_t count);

class NativeTwin {
 public:
  // Collective over `comm`. REQUIRES: `comm` was made after a loss
  // (handles/communicators/derived.hpp).
  explicit NativeTwin(MPI_Comm comm);
  ~NativeTwin();
  NativeTwin(const NativeTwin&) = delete;
  NativeTwin& operator=(const NativeTwin&) = delete;

  // False, of all members alike: the MPI library has no ULFM, or somebody who lives is not in
  // `comm`.
  bool is_possible() const { return is_possible_; }
  // False: somebody was lost meanwhile.
  bool is_whole() const { return twin_ != MPI_COMM_NULL; }
  // With the ranks of `comm`; its errors are returned. REQUIRES: is_whole().
  MPI_Comm comm() const { return twin_; }

 private:
  bool is_possible_;
  MPI_Comm twin_ = MPI_COMM_NULL;
};

}  // namespace resprout::shim
