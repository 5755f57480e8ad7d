// What a thread of the program does while it waits, between two looks. Parts of the shim that have
// something to be done then say so in MPI_Init.
//
// Thread rule: `do_meanwhile` in MPI_Init; `meanwhile` from any thread of the program.
#pragma once

namespace resprout::shim {

// `step` is short, and waits for nobody. REQUIRES: it was not said before, and few were.
void do_meanwhile(void (*step)());
// All of it, once.
void meanwhile();

}  // namespace resprout::shim
