// The numbers that communicators have in the MPI library, while it makes them.
//
// A process that makes one proposes a number, and takes the one that all agree on if it is free
// here.
// Where a loss falls into that, some may have one and send messages in it, while others have given
// its number back. Open MPI 5.0 ends the process that makes another one of that number then, as the
// senders are no members of it. After a loss it makes none but those of one process alone, so these
// get numbers from far away.
//
// Thread rule: from any thread.
#pragma once

namespace resprout::shim {

// While one lives, what this thread makes in the library gets a number that no other communicator
// is likely to have in any process.
class FarNumbers {
 public:
  FarNumbers();
  ~FarNumbers();
  FarNumbers(const FarNumbers&) = delete;
  FarNumbers& operator=(const FarNumbers&) = delete;

 private:
  const bool were_wanted_;
};

}  // namespace resprout::shim
