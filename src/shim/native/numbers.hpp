// The numbers that communicators have in the MPI library, while it makes them.
//
// Whoever makes one proposes a number, and takes the one that all agree on if it is free here.
//
// Thread rule: from any thread.
#pragma once

namespace resprout::shim {

// While one lives, what this thread makes in the library gets a number that no other communicator
// is likely to have in any process: messages that have come here for one that is not made here
// (yet) are not taken for its own. Open MPI 5.0 ends the process if their sender is no member of
// it.
class FarNumbers {
 public:
  FarNumbers();
  ~FarNumbers();
  FarNumbers(const FarNumbers&) = delete;
  FarNumbers& operator=(const FarNumbers&) = delete;
};

}  // namespace resprout::shim
