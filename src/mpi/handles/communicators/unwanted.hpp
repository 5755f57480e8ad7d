// Messages that nobody receives any more, because their communicator is revoked.
//
// MPI gives no way to take a send back, and as long as it is not over the library, or its peer, may
// read the buffer. So a send on a revoked communicator ends when its message has been received. The
// process to which it was sent receives it into memory of its own, in any call that makes progress.
// The MPI library does the same where it knows of the revocation. It does not know of it on
// communicators that were made after a loss (derived.hpp), and an MPI without ULFM never does.
//
// Thread rule: from any thread of the program, without the engine's lock.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>

namespace resprout::shim {

// The last message of a drain (handles/communicators/drain.hpp) is never taken. MPICH and Intel MPI
// have tags of 29 bits.
#if defined(OPEN_MPI)
inline constexpr int last_tag_of_drain = 0x7ffffffe;
#else
inline constexpr int last_tag_of_drain = 0x1ffffffe;
#endif

// From here on what comes on `comm`, of the MPI library's, is received and thrown away. Where that
// has begun already nothing happens.
void throw_away(MPI_Comm comm);
// Not any more. When this has returned nothing more is taken.
void stop_throwing_away(MPI_Comm comm);

namespace detail {
extern std::atomic<bool> is_any_unwanted;
void take_unwanted();
}  // namespace detail

// Takes what has come. A load, if nothing was revoked; now and then more. Also from MPI's own
// progress.
inline void take_unwanted() {
  if (detail::is_any_unwanted.load(std::memory_order_relaxed)) [[unlikely]]
    detail::take_unwanted();
}

// Starts to receive a matched message of any size. REQUIRES: room for so many bytes, which last
// until `request` is complete.
int receive_bytes(std::byte* into, MPI_Count bytes, MPI_Message& message, MPI_Request& request);

}  // namespace resprout::shim
