// Open MPI 5 forgets a blocking send that a death breaks off, while its carrier still works on it.
//
// Its pml `ob1` has one request for all blocking sends. As soon as the receiver is known to be dead
// the request is complete, is cleared, and serves the next send. But a part of the message may
// still wait to be sent, or the dead receiver's last word may still be on its way, and both know
// the request by its address: the process dies of SIGSEGV, or the next send is taken for done.
// Non-blocking sends do not have this: their request is kept until the carrier has done with it.
//
// So from here on a blocking send is a non-blocking one that is waited for. Everybody gets this who
// sends through the library, its collectives, too. The functions are the library's own, and no part
// of MPI; where they are not what they were, it stays as it is.
#pragma once

namespace resprout::shim {

// Before a second thread sends anything.
void make_sends_last();

}  // namespace resprout::shim
