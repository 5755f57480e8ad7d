// The verification of this process, from MPI_Init to MPI_Finalize: its links to the other planes,
// the verifier on them, and what hands messages and collectives to it.
//
// Thread rule: the thread that calls MPI_Init or MPI_Finalize.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/replicas/verifier.hpp"
#include "shim/options.hpp"

namespace resprout::shim {

// Waits until all planes of the job are there, or lost. `address`: where this process can be
// reached by its own plane. REQUIRES: MPI is initialized; the options ask for verification.
// Collective over MPI_COMM_WORLD. Throws std::system_error or std::runtime_error: what is needed is
// not to be had.
void open_verification(const Options& options, const std::string& address);

struct VerificationFigures {
  runtime::Verifier::Figures votes;
  std::uint64_t skipped = 0;  // messages and collectives on communicators without a name
  runtime::LoadHistory::Means history;
  std::uint64_t checkpoints = 0;
  std::uint64_t returns = 0;  // so often has its plane gone back to one; rank 0 says it
};

// Waits until everything is verified that any living plane has received. Nothing, and zeros, if
// there is no verification. Collective over MPI_COMM_WORLD.
VerificationFigures close_verification();

}  // namespace resprout::shim
