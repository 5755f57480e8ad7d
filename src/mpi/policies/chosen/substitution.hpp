// The replica substitution of this process, from MPI_Init to MPI_Finalize
// (replicas/replica_substitution.hpp), and what hands messages and collectives to it.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <string>

#include "mpi/process/options.hpp"
#include "mpi/process/report/verification_figures.hpp"

namespace resprout::shim {

// For MPI_Init and MPI_Finalize. Nothing unless the options ask for it.
void open_replica_substitution(const Options& options, const std::string& address);
VerificationFigures close_replica_substitution();
// Nobody needs anybody any more: who is lost in MPI_Finalize is lost to nobody.
bool is_replica_substitution_over();

}  // namespace resprout::shim
