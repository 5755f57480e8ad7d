// What a member costs: what it has said and heard, and what its process holds.
// Thread rule: values; `memory_of_this_process` is a function without state.
#pragma once

#include <cstdint>

namespace resprout::runtime::member {

// One direction.
struct Traffic {
  std::uint64_t bytes = 0;       // of frames, with their lengths; handshakes and TCP's own are not
  std::uint64_t frames = 0;      // all kinds
  std::uint64_t heartbeats = 0;  // those of them that only say that the sender lives

  Traffic& operator+=(const Traffic& other) {
    bytes += other.bytes;
    frames += other.frames;
    heartbeats += other.heartbeats;
    return *this;
  }
};

struct Statistics {
  Traffic sent;  // said to a connection; it may still wait for room
  Traffic received;
  std::uint64_t connections = 0;  // open or coming to be, of both directions
  // Of others, dropped: they have not proven that they know the secret, or what they said is no
  // frame.
  std::uint64_t rejected = 0;
};

// Bytes. `own`: what no other process shares (it may be forked), so what would be free without it.
// Zeros if the system does not say.
struct Memory {
  std::uint64_t resident = 0;
  std::uint64_t own = 0;
};
Memory memory_of_this_process();

}  // namespace resprout::runtime::member
