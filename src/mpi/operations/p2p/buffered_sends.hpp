// Buffered sends: MPI_Bsend, MPI_Ibsend, persistent ones, and the program's buffer.
//
// Nobody completes Open MPI's own but those whom it sends to, so that MPI_Buffer_detach waits for
// ever for who is lost. Ours are sends of copies that are left behind (send_halves.hpp). The copies
// are in memory of ours; the program's buffer says how much of it there may be.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include "mpi/handles/datatypes/send_buffer.hpp"

namespace resprout::shim {

// As MPI_Buffer_attach and MPI_Buffer_detach, which returns when nothing that it holds is needed.
int attach_buffer(void* buffer, int bytes);
int detach_buffer(void* buffer, int* bytes);

// The arguments mean something, and what they name can be copied; else it is for MPI's own call.
bool is_bufferable(const Sending& sending, const SendBuffer& sent);
// A copy of `sent` is on its way, or will never arrive, and nobody is told. MPI_ERR_BUFFER: there
// is no room; MPIX_ERR_PROC_FAILED: nobody can receive it. Nothing has been told to a handler.
// REQUIRES: is_bufferable.
int send_buffered(const Sending& sending, const SendBuffer& sent);

// Persistent ones, REQUIRES: is_bufferable: `request` gets one that MPI has nothing to do for.
// Returns a code of MPI.
int init_buffered(const Sending& sending, const SendBuffer& from, MPI_Request* request);
// Before MPI starts it: sends what it is for. MPI_SUCCESS if it is none of these.
int start_buffered(MPI_Request request);
// The program frees it.
void forget_buffered(MPI_Request request);

}  // namespace resprout::shim
