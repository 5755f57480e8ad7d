// Takes out of a communicator of the MPI library whatever its members have left in it: each sends
// all others a last message, and when all of these are there, so is everything.
//
// Collective over those of a session who live. Thread rule: one thread at a time, without the
// engine's lock.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

class Drain {
 public:
  // `session`: whose members are the same at all of them.
  Drain(MPI_Comm comm, const runtime::Session& session);

  // Goes on as far as it can without waiting for others. False: somebody was lost meanwhile, and
  // MPI may still wait for something in there. Not to be called again once it has answered.
  std::optional<bool> advance();
  // To the end.
  bool run();

 private:
  void begin();
  bool has_lost_peer() const;
  std::optional<bool> are_all_there();
  // False: it cannot be asked any more.
  bool probe(int& is_there, MPI_Message& message, MPI_Status& status) const;
  bool receive_all();
  bool complete(MPI_Request& request);

  MPI_Comm comm_;
  std::vector<int> peers_;
  std::vector<MPI_Request> requests_;  // of their last messages
  bool has_begun_ = false;
};

}  // namespace resprout::shim
