// Lets this process live when an MPI library writes to a connection whose other end has died.
//
// Open MPI 5.0 writes to its TCP connections by plain writev and send, and leaves SIGPIPE as it is:
// the first message to a process that has just died ends the sender. No error handler of MPI's
// hears of that.
#pragma once

namespace resprout::shim {

// From here on such a write is an error, EPIPE, in the program's own writes too. A program that has
// said what becomes of SIGPIPE keeps that, and the programs that it starts begin with the default.
// Thread rule: MPI_Init's.
void bear_broken_pipes();

}  // namespace resprout::shim
