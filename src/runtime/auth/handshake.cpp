#include "runtime/auth/handshake.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace resprout::runtime::auth {
namespace {

constexpr std::array<std::uint8_t, 8> magic = {
    'R', 'E', 'S', 'P', 'R', 'T', '0' + protocol_version / 10, '0' + protocol_version % 10};

// The version in the 8 bytes at `at`; -1: they are no magic of ours.
int version_in(const std::uint8_t* at) {
  const auto is_digit = [](std::uint8_t byte) { return byte >= '0' && byte <= '9'; };
  if (!std::equal(magic.begin(), magic.begin() + 6, at) || !is_digit(at[6]) || !is_digit(at[7]))
    return -1;
  return (at[6] - '0') * 10 + (at[7] - '0');
}

void put(std::uint8_t* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint32_t get(const std::uint8_t* at) {
  return std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
         std::uint32_t{at[3]} << 24;
}

}  // namespace

Handshake::Handshake(const Secret& secret, Purpose purpose, int self, int peer, Step step)
    : secret_(secret), purpose_(purpose), self_(self), peer_(peer), step_(step) {}

Handshake Handshake::initiate(const Secret& secret, Purpose purpose, int self, int peer) {
  Handshake handshake(secret, purpose, self, peer, Step::answer);
  auto& hello = handshake.hello_;
  std::copy(magic.begin(), magic.end(), hello.begin());
  put(&hello[8], static_cast<std::uint32_t>(purpose));
  put(&hello[12], static_cast<std::uint32_t>(self));
  put(&hello[16], static_cast<std::uint32_t>(peer));
  const Secret nonce = new_secret();
  std::copy(nonce.begin(), nonce.end(), &hello[24]);
  handshake.say(hello);
  handshake.expect(Step::answer);
  return handshake;
}

Handshake Handshake::initiate(std::span<const Secret> secrets, Purpose purpose, int self,
                              int peer) {
  Handshake handshake = initiate(secrets.front(), purpose, self, peer);
  handshake.others_count_ = secrets.size() - 1;
  std::copy(secrets.begin() + 1, secrets.end(), handshake.others_.begin());
  return handshake;
}

Handshake Handshake::accept(const Secret& secret, Purpose purpose, int self) {
  Handshake handshake(secret, purpose, self, -1, Step::hello);
  handshake.expect(Step::hello);
  return handshake;
}

void Handshake::say(std::span<const std::uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), buffer_out_.begin());
  said_ = bytes.size();
  sent_ = 0;
}

void Handshake::expect(Step step) {
  step_ = step;
  switch (step) {
    case Step::hello:
      expected_ = hello_bytes;
      break;
    case Step::answer:
      expected_ = answer_bytes;
      break;
    case Step::proof:
    case Step::welcome:
      expected_ = code_bytes;
      break;
    case Step::nothing:
      expected_ = 0;
      break;
  }
  received_ = 0;
}

Digest Handshake::code(char role) const {
  std::array<std::uint8_t, 1 + hello_bytes + 32> bound;
  bound[0] = static_cast<std::uint8_t>(role);
  std::copy(hello_.begin(), hello_.end(), bound.begin() + 1);
  std::copy(acceptor_nonce_.begin(), acceptor_nonce_.end(), bound.begin() + 1 + hello_bytes);
  return hmac_sha256(secret_, bound);
}

void Handshake::fail(Failure failure) {
  failure_ = failure;
  state_ = State::failed;
}

// Of a peer that is gone there may be the 8 bytes with which it refuses our version.
void Handshake::handle_eof() {
  const bool may_be_refusal = step_ == Step::answer && received_ == magic.size();
  const int version = may_be_refusal ? version_in(buffer_in_.data()) : -1;
  if (version == -1 || version == protocol_version) {
    fail(Failure::lost);
    return;
  }
  peer_version_ = version;
  fail(Failure::other_version);
}

// There is room for 8 bytes: nothing was said here before. If they don't arrive, the peer knows no
// more than that it was dropped.
void Handshake::refuse_version(int socket) {
  peer_version_ = version_in(buffer_in_.data());
  [[maybe_unused]] const ssize_t n = send(socket, magic.data(), magic.size(), MSG_NOSIGNAL);
  fail(Failure::other_version);
}

bool Handshake::send_some(int socket) {
  const ssize_t n = send(socket, &buffer_out_[sent_], said_ - sent_, MSG_NOSIGNAL);
  if (n > 0) {
    sent_ += static_cast<std::size_t>(n);
    return true;
  }
  if (n < 0 && errno == EINTR) return true;
  if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) fail(Failure::lost);
  return false;
}

bool Handshake::receive_some(int socket) {
  const ssize_t n = recv(socket, &buffer_in_[received_], expected_ - received_, 0);
  if (n > 0) {
    received_ += static_cast<std::size_t>(n);
    if (step_ != Step::hello || received_ < magic.size()) return true;
    // Another version's hello may be of another length.
    const int version = version_in(buffer_in_.data());
    if (version != -1 && version != protocol_version) refuse_version(socket);
    return true;
  }
  if (n < 0 && errno == EINTR) return true;
  if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) handle_eof();
  return false;
}

Handshake::State Handshake::advance(int socket) {
  while (state_ == State::running) {
    if (sent_ < said_) {
      if (!send_some(socket)) break;
    } else if (received_ < expected_) {
      if (!receive_some(socket)) break;
    } else {
      switch (step_) {
        case Step::hello:
          handle_hello();
          break;
        case Step::answer:
          handle_answer();
          break;
        case Step::proof:
          handle_proof();
          break;
        case Step::welcome:
          handle_welcome();
          break;
        case Step::nothing:
          state_ = State::done;
          break;
      }
    }
  }
  return state_;
}

void Handshake::handle_hello() {
  std::copy_n(buffer_in_.begin(), hello_bytes, hello_.begin());
  const int from = static_cast<int>(get(&hello_[12]));
  const bool is_for_us = std::equal(magic.begin(), magic.end(), hello_.begin()) &&
                         get(&hello_[8]) == static_cast<std::uint32_t>(purpose_) &&
                         static_cast<int>(get(&hello_[16])) == self_ && from >= 0;
  if (!is_for_us) {
    fail(Failure::foreign);
    return;
  }
  peer_ = from;
  acceptor_nonce_ = new_secret();
  const Digest own_code = code('A');
  std::array<std::uint8_t, answer_bytes> answer;
  std::copy(acceptor_nonce_.begin(), acceptor_nonce_.end(), answer.begin());
  std::copy(own_code.begin(), own_code.end(), answer.begin() + 32);
  say(answer);
  expect(Step::proof);
}

Digest Handshake::received_code() const {
  Digest code;
  std::copy_n(buffer_in_.begin() + static_cast<std::ptrdiff_t>(received_ - code_bytes), code_bytes,
              code.begin());
  return code;
}

// Whether an acceptor has made it with one of this process's secrets; from now on that is the
// secret of this connection.
bool Handshake::is_known(const Digest& received) {
  if (is_equal(received, code('A'))) return true;
  for (std::size_t i = 0; i < others_count_; ++i) {
    secret_ = others_[i];
    if (is_equal(received, code('A'))) return true;
  }
  return false;
}

void Handshake::handle_answer() {
  std::copy_n(buffer_in_.begin(), 32, acceptor_nonce_.begin());
  if (!is_known(received_code())) {
    fail(Failure::other_secret);
    return;
  }
  say(code('I'));
  expect(Step::welcome);
}

void Handshake::handle_proof() {
  if (!is_equal(received_code(), code('I'))) {
    fail(Failure::other_secret);
    return;
  }
  say(code('W'));
  expect(Step::nothing);
}

void Handshake::handle_welcome() {
  if (is_equal(received_code(), code('W')))
    state_ = State::done;
  else
    fail(Failure::foreign);
}

}  // namespace resprout::runtime::auth
