// What a session keeps of one operation: a machine with all its state, or less.
//
// A broadcast over a star that meets no loss is the root's message to each of the others, and
// nothing else is ever said in it. It is carried without a machine; what has happened to it is kept
// instead, and that is little: whom the root has sent to, or that its message has come. Told to a
// machine, it is the same operation again: `revive` in session.cpp does that as soon as anything
// else happens in it, be it a loss or a message of another kind.
//
// Of an operation that the library below carries (native_call.hpp) the only thing that is ever said
// by us is whether it ended well here. Kept is the payload that others then need; while the library
// is at it, there is none. Of a gather that is what this process has given: should the root not
// have got it all, it is given once more, by a machine.
//
// Thread rule: values, under the engine's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/buffer.hpp"
#include "runtime/native_call.hpp"
#include "runtime/operation.hpp"
#include "runtime/protocols.hpp"

namespace resprout::runtime {

struct OperationRecord {
  enum class Carrier : std::uint8_t { machine, direct, native };

  // Null unless a machine carries it: what follows describes it then.
  std::unique_ptr<Operation> operation;
  Carrier carrier = Carrier::machine;                   // as long as there is no machine
  NativeCall::Form form = NativeCall::Form::handed_on;  // if the library below carries it
  bool is_summed = false;                               // a scan: the payload is its sum
  BroadcastSpec spec;
  Rank root = no_rank;  // of a broadcast that is direct, or of a gather
  int sent = 0;         // at the root: to how many, in the order of the tree
  std::optional<std::span<const std::byte>> payload;
  Buffer owned;  // the payload's memory, if it came with memory of its own

  bool is_direct() const { return !operation && carrier == Carrier::direct; }
  bool is_native() const { return !operation && carrier == Carrier::native; }
  // The library below carries it, or was to, and what each gave is given again after a loss.
  bool is_given_again() const {
    return carrier == Carrier::native && form != NativeCall::Form::handed_on;
  }
};

// Payloads one behind the other, in memory that the peers of this host can read if there is any
// left. All are forgotten at once.
class PayloadLog {
 public:
  PayloadLog(Transport& home, std::size_t capacity) : home_(home), capacity_(capacity) {}

  bool has_room(std::size_t bytes) const { return padded(bytes) <= capacity_ - used_; }
  // REQUIRES: has_room(payload.size()).
  std::span<const std::byte> append(std::span<const std::byte> payload) {
    prepare();
    std::byte* const at = memory_.data() + used_;
    copy_bytes(at, payload.data(), payload.size());
    used_ += padded(payload.size());
    return {at, payload.size()};
  }
  bool is_shared() {
    prepare();
    return memory_.is_shared();
  }
  // The same, or in memory of its own.
  void keep(std::span<const std::byte> payload, OperationRecord& record) {
    if (has_room(payload.size())) {
      record.payload = payload.empty() ? payload : append(payload);
    } else {
      record.owned = Buffer(payload);
      record.payload = record.owned.view();
    }
  }
  void forget() { used_ = 0; }
  // Gives the memory back until it is needed again. REQUIRES: nothing in it is needed.
  void release() {
    memory_ = Buffer();
    used_ = 0;
  }

 private:
  static std::size_t padded(std::size_t bytes) { return (bytes + 63) & ~std::size_t{63}; }
  void prepare() {
    if (memory_.data() == nullptr) memory_ = Buffer(capacity_, home_);
  }

  Transport& home_;
  const std::size_t capacity_;
  Buffer memory_;
  std::size_t used_ = 0;
};

}  // namespace resprout::runtime
