// With fault tolerance on, Open MPI warns in every job that opens a file that this may hang after a
// loss. Where a process opens it for itself alone (apart.hpp) it does not.
//
// Thread rule: from any thread.
#pragma once

namespace resprout::shim {

// While one lives, that warning is not printed.
class QuietOpening {
 public:
  QuietOpening();
  ~QuietOpening();
  QuietOpening(const QuietOpening&) = delete;
  QuietOpening& operator=(const QuietOpening&) = delete;
};

}  // namespace resprout::shim
