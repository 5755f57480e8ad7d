// A look at things while a thread of the program is blocked inside the MPI library.
//
// Open MPI calls what is registered with its opal_progress_register_lp in every eighth round of its
// progress engine, on the thread that waits. That is no part of MPI; where the symbol is missing
// there is no look, and a blocked call ends when the library itself notices the loss.
#pragma once

namespace resprout::shim {

using ProgressHook = int (*)();

// False: this MPI offers nothing of the kind.
bool add_progress_hook(ProgressHook hook);
void remove_progress_hook(ProgressHook hook);

}  // namespace resprout::shim
