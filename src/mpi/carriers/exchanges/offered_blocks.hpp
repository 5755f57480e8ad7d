// The blocks of an exchange inside a host, read by each receiver in the memory of the senders.
//
// All tell each other where their blocks are, read those for them, and tell which ones they lack.
// Thread rule: one thread at a time. What is offered stays as it is until `take_back`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/offered_memory.hpp"

namespace resprout::shim {

class OfferedBlocks {
 public:
  // What this process tells the others. `given`: by receiver. One that may not read the memory of
  // others offers nothing.
  std::vector<std::byte> offer(std::span<const std::span<const std::byte>> given);
  // What `from` has told to `self`. False: that is no offer to as many ranks, by a mistake of the
  // program.
  bool take_offer(int from, int self, int ranks, std::span<const std::byte> told);
  // Not everybody may read: nobody does.
  bool are_refused() const { return is_refused_; }
  void refuse() { is_refused_ = true; }

  // All have told. Blocks of this process itself are not read.
  void begin_reading();
  // The next part. True: that was the last, or reading was refused.
  bool read_some();
  // REQUIRES, and of what follows: all was read.
  bool has_read(int from) const;
  // Calls `take(from, block)` for each that was read.
  template <typename Take>
  void for_each_read(const Take& take) const {
    for (const Block& block : blocks_)
      if (block.is_read) take(block.from, landing_.view().subspan(block.landing_at, block.bytes));
  }
  // The memory is the program's again: before anything is written there.
  void take_back() { memory_.reset(); }

 private:
  struct Block {
    int from;
    runtime::MemoryOffer offer;
    std::size_t at;  // in the memory that is offered
    std::size_t bytes;
    std::size_t landing_at = 0;
    bool is_read = false;
  };

  std::optional<runtime::OfferedMemory> memory_;
  std::vector<Block> blocks_;  // for this process, of others
  std::size_t reading_ = 0;    // of these
  std::size_t read_ = 0;       // bytes of that one
  runtime::Buffer landing_;
  bool is_refused_ = false;
};

}  // namespace resprout::shim
