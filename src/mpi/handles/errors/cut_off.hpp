// What is left of this process's part in the job once it is cut off: the others have declared it
// lost, or may, as it has no quorum of the last view
// (docs/explanation/adr/022-cut-off-processes-live-on.md).
//
// Its waiting and later calls end with MPIX_ERR_PROC_FAILED, by the program's error handlers, also
// where a loss is no error; MPI_Error_string says why. It may save what it has, and ends by its own
// choice: under a fatal handler at once, and by MPI_Abort too, which then is about nobody else. It
// cannot come back: its rank is lost in all communicators.
//
// Invariants
//  1. Nothing that it writes reaches the others by Resprout or by a call of MPI.
//  2. Its exit status is not 0, and MPI_Finalize waits for nobody.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <string>

namespace resprout::shim {

// A load.
bool is_cut_off();

// Has MPI revoke it: where this process is cut off here alone, for nobody may hear of that.
void revoke_in_mpi(MPI_Comm comm);

// On the lifeline's thread; `why`: see LifelineOptions::on_cut_off. False: the process has to end.
bool live_on_cut_off(const std::string& why);

// Ends this process alone; `why`: the end of a sentence.
[[noreturn]] void end_cut_off(const char* why);

// For MPI_Finalize, instead of all that needs others.
void finalize_cut_off();

// The same behind the end of Resprout, where a loss is known and the library would wait for the
// lost (Intel MPI) or fail (MPICH over TCP).
void finalize_without_mpi();

}  // namespace resprout::shim
