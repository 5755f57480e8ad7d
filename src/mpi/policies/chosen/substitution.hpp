// The masking of this process, from MPI_Init to MPI_Finalize (replicas/masking.hpp), and what hands
// messages and collectives to it.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <string>

#include "mpi/process/options.hpp"
#include "mpi/process/report/verification_figures.hpp"

namespace resprout::shim {

// For MPI_Init and MPI_Finalize. Nothing unless the options ask for it.
void open_masking(const Options& options, const std::string& address);
VerificationFigures close_masking();
// Nobody needs anybody any more: who is lost in MPI_Finalize is lost to nobody.
bool is_masking_over();

}  // namespace resprout::shim
