#include "runtime/auth/handshake.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/net/fd.hpp"

namespace resprout::runtime::auth {
namespace {

struct Line {
  Fd initiator, acceptor;
  Line() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    initiator = Fd(ends[0]);
    acceptor = Fd(ends[1]);
  }
};

using State = Handshake::State;
using Bytes = std::vector<std::uint8_t>;

// Both ends by turns, until nothing changes any more.
void run(Handshake& a, int a_socket, Handshake& b, int b_socket) {
  for (int turn = 0; turn < 8; ++turn) {
    a.advance(a_socket);
    b.advance(b_socket);
  }
}

Bytes receive(int socket) {
  Bytes bytes(256);
  const ssize_t n = recv(socket, bytes.data(), bytes.size(), 0);
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

void write(int socket, const Bytes& bytes) {
  REQUIRE(send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

TEST_CASE("who knows the secret is let in, and known by rank") {
  const Secret secret = new_secret();
  Line line;
  Handshake a = Handshake::initiate(secret, Purpose::data, 3, 7);
  Handshake b = Handshake::accept(secret, Purpose::data, 7);
  run(a, line.initiator.get(), b, line.acceptor.get());
  CHECK(a.state() == State::done);
  CHECK(b.state() == State::done);
  CHECK(b.peer() == 3);
}

TEST_CASE("what follows the handshake is left to be read") {
  const Secret secret = new_secret();
  Line line;
  Handshake a = Handshake::initiate(secret, Purpose::data, 0, 1);
  Handshake b = Handshake::accept(secret, Purpose::data, 1);
  for (int turn = 0; turn < 2; ++turn) {
    a.advance(line.initiator.get());
    CHECK(a.state() == State::running);
    b.advance(line.acceptor.get());
  }
  REQUIRE(b.state() == State::done);
  write(line.acceptor.get(), {1, 2, 3});
  write(line.initiator.get(), {4, 5});
  REQUIRE(a.advance(line.initiator.get()) == State::done);
  CHECK(receive(line.initiator.get()) == Bytes{1, 2, 3});
  CHECK(receive(line.acceptor.get()) == Bytes{4, 5});
}

TEST_CASE("another secret, purpose or rank is not let in") {
  const Secret secret = new_secret();
  Secret other = secret;
  other[31] ^= 1;
  const Handshake acceptors[] = {Handshake::accept(other, Purpose::data, 1),
                                 Handshake::accept(secret, Purpose::lifeline, 1),
                                 Handshake::accept(secret, Purpose::data, 2)};
  for (Handshake b : acceptors) {
    Line line;
    Handshake a = Handshake::initiate(secret, Purpose::data, 0, 1);
    run(a, line.initiator.get(), b, line.acceptor.get());
    CHECK(a.state() != State::done);
    CHECK(b.state() != State::done);
  }
}

TEST_CASE("every wrong byte in either direction ends the handshake") {
  const Secret secret = new_secret();
  for (std::size_t wrong = 0; wrong < 56 + 64 + 32 + 32; ++wrong) {
    CAPTURE(wrong);
    Line left, right;  // the attacker sits between the two
    Handshake a = Handshake::initiate(secret, Purpose::data, 0, 1);
    Handshake b = Handshake::accept(secret, Purpose::data, 1);
    std::size_t position = 0;
    for (int turn = 0; turn < 2; ++turn) {
      a.advance(left.initiator.get());
      for (auto [from, to] : {std::pair(left.acceptor.get(), right.initiator.get()),
                              std::pair(right.initiator.get(), left.acceptor.get())}) {
        if (from == right.initiator.get()) b.advance(right.acceptor.get());
        Bytes bytes = receive(from);
        if (position <= wrong && wrong < position + bytes.size()) bytes[wrong - position] ^= 0x40;
        position += bytes.size();
        write(to, bytes);
      }
    }
    a.advance(left.initiator.get());
    b.advance(right.acceptor.get());
    CHECK(a.state() != State::done);
    if (wrong < 56 + 64 + 32) CHECK(b.state() != State::done);
  }
}

TEST_CASE("a recorded handshake is worthless the next time") {
  const Secret secret = new_secret();
  Bytes hello, proof;
  {
    Line left, right;
    Handshake a = Handshake::initiate(secret, Purpose::data, 0, 1);
    Handshake b = Handshake::accept(secret, Purpose::data, 1);
    a.advance(left.initiator.get());
    write(right.initiator.get(), hello = receive(left.acceptor.get()));
    b.advance(right.acceptor.get());
    write(left.acceptor.get(), receive(right.initiator.get()));
    a.advance(left.initiator.get());
    write(right.initiator.get(), proof = receive(left.acceptor.get()));
    REQUIRE(b.advance(right.acceptor.get()) == State::done);
  }
  Line line;
  Handshake b = Handshake::accept(secret, Purpose::data, 1);
  write(line.initiator.get(), hello);
  b.advance(line.acceptor.get());
  write(line.initiator.get(), proof);
  CHECK(b.advance(line.acceptor.get()) == State::failed);
}

TEST_CASE("the answer of an acceptor is no proof of an initiator") {
  const Secret secret = new_secret();
  Line line, mirror;
  Handshake a = Handshake::initiate(secret, Purpose::data, 1, 1);
  Handshake b = Handshake::accept(secret, Purpose::data, 1);
  a.advance(line.initiator.get());
  write(mirror.initiator.get(), receive(line.acceptor.get()));
  b.advance(mirror.acceptor.get());
  const Bytes answer = receive(mirror.initiator.get());
  write(mirror.initiator.get(), Bytes(answer.begin() + 32, answer.end()));
  CHECK(b.advance(mirror.acceptor.get()) == State::failed);
}

Bytes bytes_of(const char* text, std::size_t size) {
  Bytes bytes(text, text + 8);
  bytes.resize(size);
  return bytes;
}

TEST_CASE(
    "who gets the hello of another version names its own, says no more, and knows the other's") {
  // Shorter than a hello of this version, as long, longer.
  for (const std::size_t size : {8, 40, 56, 90}) {
    CAPTURE(size);
    Line line;
    Handshake b = Handshake::accept(new_secret(), Purpose::lifeline, 1);
    write(line.initiator.get(), bytes_of("RESPRT42", size));
    CHECK(b.advance(line.acceptor.get()) == State::failed);
    CHECK(b.failure() == Failure::other_version);
    CHECK(b.peer_version() == 42);
    CHECK(receive(line.initiator.get()) == bytes_of("RESPRT01", 8));
  }
}

TEST_CASE("who is refused for its version learns that of the other end") {
  Line line;
  Handshake a = Handshake::initiate(new_secret(), Purpose::membership, 0, 1);
  CHECK(a.advance(line.initiator.get()) == State::running);
  write(line.acceptor.get(), bytes_of("RESPRT42", 8));
  CHECK(a.advance(line.initiator.get()) == State::running);
  line.acceptor.reset();
  CHECK(a.advance(line.initiator.get()) == State::failed);
  CHECK(a.failure() == Failure::other_version);
  CHECK(a.peer_version() == 42);
}

TEST_CASE("an answer that breaks off is a lost connection, unless it names another version") {
  const Bytes ends[] = {{},
                        bytes_of("RESPRT42", 9),
                        bytes_of("RESPRT01", 8),
                        bytes_of("RESPRTxx", 8),
                        bytes_of("HTTP/1.1", 8)};
  for (const Bytes& said : ends) {
    Line line;
    Handshake a = Handshake::initiate(new_secret(), Purpose::membership, 0, 1);
    a.advance(line.initiator.get());
    if (!said.empty()) write(line.acceptor.get(), said);
    line.acceptor.reset();
    CHECK(a.advance(line.initiator.get()) == State::failed);
    CHECK(a.failure() == Failure::lost);
  }
}

TEST_CASE("the end that is given a wrong code knows that the other has another secret") {
  Line line;
  Handshake a = Handshake::initiate(new_secret(), Purpose::data, 0, 1);
  Handshake b = Handshake::accept(new_secret(), Purpose::data, 1);
  run(a, line.initiator.get(), b, line.acceptor.get());
  CHECK(a.failure() == Failure::other_secret);
  CHECK(b.failure() == Failure::none);
  line.initiator.reset();
  CHECK(b.advance(line.acceptor.get()) == State::failed);
  CHECK(b.failure() == Failure::lost);
}

TEST_CASE("two ends come together while secrets are exchanged, one end before the other") {
  const Secret old = new_secret();
  const Secret next = new_secret();
  const std::vector<Secret> steps[] = {{old}, {old, next}, {next, old}, {next}};
  for (std::size_t one = 0; one < std::size(steps); ++one) {
    for (std::size_t other = 0; other < std::size(steps); ++other) {
      CAPTURE(one);
      CAPTURE(other);
      Line line;
      Handshake a = Handshake::initiate(std::span(steps[one]), Purpose::membership, 0, 1);
      Handshake b = Handshake::accept(steps[other].front(), Purpose::membership, 1);
      run(a, line.initiator.get(), b, line.acceptor.get());
      const bool is_known = std::ranges::count(steps[one], steps[other].front()) == 1;
      CHECK(is_known == (a.state() == State::done));
      CHECK(is_known == (b.state() == State::done));
      if (one + 1 >= other && other + 1 >= one) CHECK(is_known);
    }
  }
}

TEST_CASE("garbage of any length ends or starves the handshake, never completes it") {
  const Secret secret = new_secret();
  Random random(4);
  for (int run = 0; run < 300; ++run) {
    Line line;
    Handshake b = Handshake::accept(secret, Purpose::lifeline, 0);
    Bytes garbage(random.below(200));
    for (auto& byte : garbage) byte = static_cast<std::uint8_t>(random.next());
    write(line.initiator.get(), garbage);
    CHECK(b.advance(line.acceptor.get()) == (garbage.size() < 56 ? State::running : State::failed));
  }
}

}  // namespace
}  // namespace resprout::runtime::auth
