// A look at things while a thread of the program is blocked inside the MPI library.
//
// Open MPI calls what is registered with its opal_progress_register in every round of its progress
// engine, and with opal_progress_register_lp in every eighth, on the thread that waits. That is no
// part of MPI; where the symbols are missing there is no look, and a blocked call ends when the
// library itself notices the loss, or is told.
#pragma once

namespace resprout::shim {

using ProgressHook = int (*)();

// In every round: for what costs a few loads only. In some of them: for what may take a lock.
enum class Rounds { all, some };

// False: this MPI offers nothing of the kind.
bool add_progress_hook(ProgressHook hook, Rounds rounds);
void remove_progress_hook(ProgressHook hook);

}  // namespace resprout::shim
