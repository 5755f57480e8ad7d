// How frames get from one process to another: what every transport promises.
//
// A frame is a header, a prefix (small: who is missing from the payload) and data (the payload).
// Peers are world ranks. A peer is reached or it is dead: transports are reliable between live
// processes, and what is sent to the dead vanishes.
//
// Invariants
//  1. Each frame arrives whole and exactly once or, if one of the two processes dies, not at all.
//  2. Frames of one sender arrive at one receiver in the order of their `try_send`.
//  3. A transport never waits, and never buffers more than a constant per peer: what does not fit
//     is refused (back-pressure).
//  4. A process that is killed at any instruction blocks and corrupts nobody else.
//
// Thread rule: all calls on a transport are made under one lock of the caller. A Receiver that is
// being called may call `try_send`, and nothing else of the transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/message.hpp"
#include "runtime/death_marks/death_marks.hpp"
#include "runtime/doorbell.hpp"
#include "runtime/notice_board.hpp"
#include "runtime/slot_pool_memory.hpp"

namespace resprout::runtime {

// Travels as it stands in memory (hosts of one job share byte order and layout):
//   byte 0   8  communicator
//        8   8  operation: of a session, what operation_label.hpp says
//       16  16  message: from, to, round (4 bytes each), kind, slot (1 each), tag (2)
struct FrameHeader {
  std::uint64_t communicator = 0;
  std::uint64_t operation = 0;
  Message message = {};
};
static_assert(sizeof(FrameHeader) == 32 && std::is_trivially_copyable_v<FrameHeader>);

inline constexpr std::size_t prefix_bytes_max = std::size_t{64} << 10;

// Counts the transports' references to a sender's data. `try_send` raises it when it keeps one and
// lowers it when it no longer does: everything was sent, or the peer is closed. The object must
// stay where it is while it is not zero.
struct Transfer {
  std::uint32_t pending = 0;
};

// Whose memory the data of an arriving frame is, and so how long it lives.
enum class DataOwner : std::uint8_t {
  transport,  // valid during the call only
  receiver,   // what `allocate_payload` returned for this frame: the receiver's from now on
  shared,     // in memory that a process of this host shares (`allocate_shared`): readable until
              // that process frees it; dying is not freeing
};

class Receiver {
 public:
  // A frame arrives in pieces: memory for its data, 16-byte aligned or better. It comes back by
  // `handle_frame`, or by `abandon_payload` if the sender dies half way.
  // REQUIRES: data_bytes > 0.
  virtual std::byte* allocate_payload(int peer, const FrameHeader& header,
                                      std::size_t data_bytes) = 0;
  virtual void abandon_payload(int peer, std::byte* payload) = 0;

  // A whole frame. `prefix` is valid during the call only, `data` as `owner` says. Both are 16-byte
  // aligned or better.
  virtual void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                            std::span<const std::byte> data, DataOwner owner) = 0;

  // An established connection to or from `peer` broke, and frames may be lost with it: the peer is
  // dead, or has left, or must be treated as dead. Only the lifeline knows; ask it.
  virtual void handle_broken_peer(int /*peer*/) {}

 protected:
  ~Receiver() = default;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // False: no room now, nothing happened, try again later. `prefix` (at most prefix_bytes_max) is
  // copied at once; `data` must stay valid and unchanged while this call holds `transfer` raised.
  // True to a closed peer: the frame vanishes.
  virtual bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                        std::span<const std::byte> data, Transfer& transfer) = 0;

  // Moves what can be moved without waiting; true if anything moved.
  virtual bool progress(Receiver& receiver) = 0;

  // `peer` is dead or fenced: what has arrived whole may still be delivered by this call, what has
  // half arrived is abandoned, what is queued for it is dropped (its transfers are lowered), and
  // nothing more of it is delivered.
  virtual void close_peer(int peer, Receiver& receiver) = 0;

  // False while something accepted by `try_send` has not left this process.
  virtual bool is_flushed() const = 0;

  // Grows whenever something has come from `peer`, be it a part of a frame. 0 where that is not
  // counted: of peers that share memory.
  virtual std::uint64_t heard_of(int /*peer*/) const { return 0; }

  // `peer` can read what `allocate_shared` hands out here, and the other way round.
  virtual bool shares_memory_with(int /*peer*/) const { return false; }

  // This process must not act any more: nothing that it writes from here on reaches a peer through
  // memory. From any thread, at any time; what others still read of it stays. False: the system has
  // refused it.
  virtual bool withdraw() { return true; }
  // The peer has done so: what it has not written by now it never will. False of those who have
  // ended.
  virtual bool has_withdrawn(int /*peer*/) const { return false; }

  // Of all peers that share memory. The bell has them look at what was sent to them, or stands on
  // the board, although they wait for something else; others look now and then.
  virtual Doorbell bell() const { return {}; }
  // A descriptor that is readable when `progress` has something to do for a peer that shares no
  // memory; -1 if there is none.
  virtual int pollable_fd() const { return -1; }
  virtual NoticeBoard board() const { return {}; }
  // Of this process and those peers; valid as long as the transport is.
  virtual DeathMarks death_marks() const { return {}; }
  // Of this process and those peers, or of nobody; valid as long as the transport is.
  virtual SlotPoolMemory shared_slots() const { return {}; }

  // `data` would reach `peer` by reference: a frame with it costs no more than one without.
  virtual bool passes_by_reference(int /*peer*/, std::span<const std::byte> /*data*/) const {
    return false;
  }

  // Memory that peers can read where it is. Data in it is passed by reference, also by a process
  // that has not allocated it. Null if there is none (left). 64-byte aligned. Free it when no
  // receiver can still look at it.
  virtual std::byte* allocate_shared(std::size_t /*bytes*/) { return nullptr; }
  virtual void free_shared(std::byte* /*block*/) {}
};

}  // namespace resprout::runtime
