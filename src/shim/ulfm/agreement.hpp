// Agreement among the living members of a communicator, revoked or not: each gives a bit string,
// all get the bitwise AND of those of the survivors, and agree on who these are. It is an operation
// of the session for repairs: uniform, whoever fails meanwhile (docs/protocols/ftco_allreduce.md).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/session.hpp"
#include "shim/collectives/bitwise_and.hpp"
#include "shim/collectives/nonblocking/collective.hpp"

namespace resprout::shim {

// What MPIX_Comm_agree speaks of: the flag, and which failures the program knows.
class Opinion {
 public:
  // This process's. `failed`: ranks of a communicator of `size`.
  Opinion(int flag, int size, std::span<const int> acknowledged);

  std::span<const std::byte> bytes() const { return bytes_; }
  int flag() const;
  bool acknowledges(int rank) const;
  // The AND of those of all.
  void take(std::span<const std::byte> bytes) { bytes_.assign(bytes.begin(), bytes.end()); }

 private:
  std::vector<std::byte> bytes_;
};

// True if some member that is left out was not acknowledged by all.
bool has_unknown_failure(const runtime::Session& session, const Opinion& agreed);

// The non-blocking form; `flag` is written when it is over.
std::shared_ptr<Collective> make_agreement(runtime::Session& repair, Opinion opinion, int* flag);

}  // namespace resprout::shim
