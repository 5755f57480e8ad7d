// Leaves for the launcher which signal ended this process by a mistake of the program: SIGSEGV and
// its like. Nobody else says it, once mpirun lets ranks die.
//
// What the program, or the MPI library, has installed for them is called afterwards, and so is what
// the kernel does by default. A handler that is installed after the last call takes our place.
#pragma once

namespace resprout::shim {

// After MPI_Init: Open MPI, which prints a stack for them, leaves handlers alone that it finds
// there. Thread rule: MPI_Init's.
void watch_fatal_signals();

}  // namespace resprout::shim
