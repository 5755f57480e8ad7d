// Bytes of somebody who does not know the secret (runtime/auth/handshake.hpp): in whatever pieces
// they come, neither end of a handshake lets him in.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <source_location>

#include "runtime/auth/handshake.hpp"

namespace {

using resprout::runtime::auth::Failure;
using resprout::runtime::auth::Handshake;
using resprout::runtime::auth::Purpose;
using resprout::runtime::auth::Secret;

void require(bool condition, std::source_location where = std::source_location::current()) {
  if (condition) return;
  std::fprintf(stderr, "line %u does not hold; errno %d\n", static_cast<unsigned>(where.line()),
               errno);
  std::abort();
}

}  // namespace

// Byte 0: its lowest bit says which end is under test, the others the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Secret secret;
  secret.fill(0x5a);
  const bool accepts = (data[0] & 1) != 0;
  const std::size_t piece = std::size_t{1} + data[0] / 2;
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  Handshake handshake = accepts ? Handshake::accept(secret, Purpose::lifeline, 1)
                                : Handshake::initiate(secret, Purpose::lifeline, 0, 1);
  handshake.advance(ends[0]);
  for (std::size_t at = 1; at < size; at += piece) {
    const std::size_t length = std::min(piece, size - at);
    // Who has been turned away is not heard any more.
    if (send(ends[1], data + at, length, MSG_NOSIGNAL) != static_cast<ssize_t>(length)) break;
    handshake.advance(ends[0]);
  }
  close(ends[1]);
  for (int turn = 0; turn < 4; ++turn) handshake.advance(ends[0]);
  close(ends[0]);
  require(handshake.state() == Handshake::State::failed);
  require(handshake.failure() != Failure::none);
  if (handshake.failure() == Failure::other_version)
    require(handshake.peer_version() >= 0 && handshake.peer_version() <= 99);
  return 0;
}
