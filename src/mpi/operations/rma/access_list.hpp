// What a process does to the window of another one in an epoch, as bytes: its origin writes them
// down call by call, and the target carries them out in that order.
//
// Of the target's datatype they say where the bytes of one element lie (type_blocks.hpp), so that
// the target need not have that datatype. Predefined datatypes and operators go by their Fortran
// handles, which are the same in all processes of a job.
// Thread rule: from one thread at a time, from which MPI may be called.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace resprout::shim {

// What a process has in a window.
struct WindowMemory {
  std::byte* base = nullptr;  // of a dynamic window null: places are addresses
  MPI_Aint bytes = 0;         // none are counted of a dynamic window
  int unit = 1;               // bytes of a displacement
};

// Where in the target's memory.
struct AtTarget {
  MPI_Aint at = 0;  // in its units
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

enum class AccessKind : std::uint32_t { put, get, accumulate, get_accumulate, compare_and_swap };

class AccessList {
 public:
  // `data`: the packed elements of the origin; of compare_and_swap what is compared, and then what
  // is written; of get nothing. False, and nothing is written down: MPI has made the datatype of
  // something that is not known here, or there is no predefined one below it for `op`.
  bool add(AccessKind kind, MPI_Op op, const AtTarget& place, std::span<const std::byte> data);

  std::span<const std::byte> bytes() const { return bytes_; }
  // How many bytes the target answers.
  std::size_t answer_bytes() const { return answer_bytes_; }
  void clear();

 private:
  std::vector<std::byte> bytes_;
  std::size_t answer_bytes_ = 0;
};

// The first and the last byte, past the end, that elements at that place have, in bytes from the
// beginning of the window. Two equal ones: there are none.
struct Reach {
  MPI_Aint first;
  MPI_Aint end;
};
Reach reach_of(const AtTarget& place, int unit);

// Carries out a list: what is read is put behind `answer`, in the list's order. REQUIRES: the list
// was made by AccessList, for a window that reaches as far.
void carry_out(std::span<const std::byte> list, const WindowMemory& memory,
               std::vector<std::byte>& answer);

}  // namespace resprout::shim
