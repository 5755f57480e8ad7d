// Agreement among the living members of a communicator, revoked or not: each gives its opinion, all
// get the bitwise AND of those of the survivors, and agree on who these are. It is an operation of
// the session for repairs: uniform, also if some fail meanwhile or afterwards
// (docs/explanation/protocols/agreement.md). What is given and what comes of it stands in
// protocols/agreement/opinion.hpp.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/carriers/started/collective.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

// What MPIX_Comm_agree speaks of: the flag, and which failures the program knows.
class Opinion {
 public:
  // This process's. `acknowledged`: ranks of a communicator of `size`.
  Opinion(int flag, int size, std::span<const int> acknowledged);

  std::span<const std::byte> bytes() const { return bytes_; }
  int flag() const;
  // The AND of those of all.
  void take(std::span<const std::byte> bytes) { bytes_.assign(bytes.begin(), bytes.end()); }

 private:
  std::vector<std::byte> bytes_;
};

// The blocking form: what the call returns.
int agree(runtime::Session& repair, runtime::Lock& lock, const Opinion& opinion, int* flag);
// The non-blocking form; `flag` is written when it is over.
std::shared_ptr<Collective> make_agreement(runtime::Session& repair, Opinion opinion, int* flag);

}  // namespace resprout::shim
