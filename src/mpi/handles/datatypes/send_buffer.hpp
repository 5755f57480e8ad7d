// What a send call is given, and copies of it.
// Thread rule: pure.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/handles/datatypes/payload.hpp"

namespace resprout::shim {

// What a send call is given, or what MPI is given instead.
struct SendBuffer {
  const void* data = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

// The call that sends it: its lower-case MPI name, and to whom.
struct Sending {
  const char* call;
  MPI_Comm comm;
  int dest;
  int tag;
};

// A copy can be sent as it is, or has to go as packed data, whose length is an int.
bool is_copyable(const Layout& layout);
// The buffer's packed data in `bytes`, and how they are to be sent. Of a dense datatype they are
// the elements; else they go as MPI_PACKED, which any datatype of the same elements may receive.
// REQUIRES: is_copyable(layout).
SendBuffer copy_of(const SendBuffer& buffer, const Layout& layout, std::vector<std::byte>& bytes);

}  // namespace resprout::shim
