// Where the MPI library writes what a collective receives that it carries until a loss.
//
// The program's receive buffer has to stay as it was until everybody is known to have all of it:
// what a lost member has given counts for all or for nobody, and what it has not given stays
// untouched. And the library may go on writing after it was interrupted. So it writes into memory
// of ours, of the same shape. Where the parts of a buffer are so far apart that this would be too
// much, it writes into the buffer, and what was there is kept and put back.
//
// Thread rule: a value; one thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/handles/datatypes/pieces.hpp"
#include "runtime/buffer.hpp"

namespace resprout::shim {

// Memory that the library may still write into is never used again: at most one for each
// communicator, which goes without the library from then on.
void abandon(runtime::Buffer memory);

class Landing {
 public:
  // For where the receive buffer is not significant.
  Landing() = default;
  // `pieces`: of the receive buffer, all that the library will write.
  explicit Landing(std::vector<Piece> pieces);

  // What the library gets in place of an address in the receive buffer.
  void* at(void* buffer) const;
  // What it gets as input where a call in place has it at that address of the receive buffer.
  const void* input_at(const void* buffer) const;

  // Everybody has it: writes it into the program's buffer.
  void take() const;
  // Not everybody has it: the buffer is as it was before the call.
  void give_up();

 private:
  bool is_apart() const { return memory_.data() != nullptr; }

  std::vector<Piece> pieces_;
  std::ptrdiff_t shift_ = 0;           // from the program's memory to this one
  runtime::Buffer memory_;             // none: the library writes into the program's
  std::vector<runtime::Buffer> kept_;  // then: what was in the pieces, packed
};

}  // namespace resprout::shim
