// Two processes prove to each other that they know the job's secret, before anything else is said.
//
//   initiator -> acceptor  hello    8 magic, 4 purpose, 4 own rank, 4 peer's, 4 zero, 32 nonce
//                                   (magic: RESPRT and the protocol's version, two digits)
//   acceptor -> initiator  answer   32 nonce, 32 code
//   initiator -> acceptor  proof    32 code
//   acceptor -> initiator  welcome  32 code
//
// A code is HMAC-SHA256(secret, role, hello, acceptor's nonce): role, purpose, both ranks and both
// fresh nonces are bound into it, so no code is good for another connection or another message.
// Sizes are fixed. The welcome is for the initiator's sake: an acceptor that gave up waiting for
// the proof must not be taken for one that died later.
//
// Secrets may be exchanged while processes run. Each process then knows several: it proves itself
// to others by its first one. An initiator accepts any of its own from the acceptor, and goes on
// with the one that the acceptor has used. So two processes come together if each has the other's
// first secret.
//
// Who gets the hello of another version answers with the 8 bytes of its own magic and nothing more,
// so that both ends can name both versions. All that follows on a connection is of that version.
//
// Invariants
//  1. Nothing is read beyond the handshake's own bytes.
//  2. `done` only after the peer's code was right; a wrong byte anywhere is `failed`, for ever.
//
// Thread rule: a value; belongs to the owner of the connection.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/auth/secret.hpp"
#include "runtime/auth/sha256.hpp"

namespace resprout::runtime::auth {

// What the connection is for; a code for one is worthless for another.
enum class Purpose : std::uint32_t { data = 1, lifeline = 2, membership = 3, replicas = 4 };

// Of all that is said on connections that begin with this handshake: of data, of the lifeline and
// of the membership. 1 to 99.
inline constexpr int protocol_version = 1;

// Why a handshake has failed.
enum class Failure : std::uint8_t {
  none,           // it has not
  lost,           // the connection ended
  foreign,        // not a word of ours, or meant for somebody else
  other_version,  // the peer says to speak peer_version(); nothing is proven yet
  other_secret,   // as other_version, the peer has another secret; or it is somebody else
};

// So many secrets a process may accept at a time.
inline constexpr std::size_t secrets_max = 4;

inline constexpr std::int64_t handshake_deadline_ns = 2'000'000'000;

class Handshake {
 public:
  enum class State : std::uint8_t { running, done, failed };

  static Handshake initiate(const Secret& secret, Purpose purpose, int self, int peer);
  // REQUIRES: secrets has 1 to secrets_max of them.
  static Handshake initiate(std::span<const Secret> secrets, Purpose purpose, int self, int peer);
  static Handshake accept(const Secret& secret, Purpose purpose, int self);

  State state() const { return state_; }
  Failure failure() const { return failure_; }
  // REQUIRES: failure() == other_version.
  int peer_version() const { return peer_version_; }
  // REQUIRES: initiated, or done. Else the peer is who nobody knows.
  int peer() const { return peer_; }

  // Sends and receives on a connected non-blocking socket what can be moved without waiting.
  State advance(int socket);
  // What `advance` waits for: true for room to send, false for bytes to read.
  bool wants_to_send() const { return sent_ < said_; }

 private:
  static constexpr std::size_t hello_bytes = 56, answer_bytes = 64, code_bytes = 32;

  enum class Step : std::uint8_t { hello, answer, proof, welcome, nothing };

  Handshake(const Secret& secret, Purpose purpose, int self, int peer, Step step);
  bool send_some(int socket);
  bool receive_some(int socket);
  void fail(Failure failure);
  void refuse_version(int socket);
  void handle_eof();
  void handle_hello();
  void handle_answer();
  void handle_proof();
  void handle_welcome();
  Digest received_code() const;
  bool is_known(const Digest& code);
  void say(std::span<const std::uint8_t> bytes);
  void expect(Step step);
  Digest code(char role) const;

  Secret secret_;
  std::array<Secret, secrets_max - 1> others_{};  // of an initiator
  std::size_t others_count_ = 0;
  Purpose purpose_;
  int self_;
  int peer_;
  State state_ = State::running;
  Failure failure_ = Failure::none;
  int peer_version_ = -1;
  Step step_;  // the message that is awaited
  std::array<std::uint8_t, hello_bytes> hello_{};
  std::array<std::uint8_t, 32> acceptor_nonce_{};
  std::array<std::uint8_t, answer_bytes> buffer_out_{};
  std::array<std::uint8_t, answer_bytes> buffer_in_{};
  std::size_t expected_ = 0, received_ = 0, said_ = 0, sent_ = 0;
};

}  // namespace resprout::runtime::auth
