// The verification of this process, from MPI_Init to MPI_Finalize: its links to the other planes,
// the verifier on them, and what hands messages and collectives to it.
//
// With --verify none nothing is handed to it. Then it is there from the program's first checkpoint
// on, so that a plane that was lost can come back (returns.hpp); where there is none nothing
// crosses planes.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/process/options.hpp"
#include "mpi/process/report/verification_figures.hpp"

namespace resprout::shim {

// For MPI_Init: opens it if it is due by then. `address`: where this process can be reached by its
// own plane. REQUIRES: MPI is initialized; the options outlive it, and ask for replicas. Collective
// over MPI_COMM_WORLD.
void prepare_verification(const Options& options, const std::string& address);

// Waits until all planes of the job are there, or lost; or ends the process, if what is needed is
// not to be had. Nothing if it is open, or was not prepared. Collective over MPI_COMM_WORLD.
void open_verification();

// Waits until everything is verified that any living plane has received. Nothing, and zeros, if
// there is no verification. Collective over MPI_COMM_WORLD.
VerificationFigures close_verification();

}  // namespace resprout::shim
