// A ring of records in shared memory, from one writing process to one reading process.
//
// Record, starting on a cache line:
//   byte 0   4  mark: kind in the low 8 bits, length in lines above; written last
//        4   4  prefix length
//        8   8  data length (piece: of this piece)
//       16  32  frame header               (not in skip and piece)
//       48      the data, padded to 16, then the prefix; begin: nothing; piece: data from byte 16
//       on
// So a frame of up to 16 bytes is one cache line.
//
// Invariants
//  1. A record is visible by the one release store of its mark: a writer that is killed before it
//     has written nothing.
//  2. The line behind the last visible record is free and its mark is zero: the reader stops there.
//  3. A record is contiguous; `skip` fills what is left before the end.
//
// Thread rule: one writer, one reader; each object belongs to one of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/transport.hpp"

namespace resprout::runtime {

enum class RecordKind : std::uint8_t {
  none,
  skip,
  frame,  // a whole frame
  begin,  // the head of a frame whose prefix and data follow as pieces
  piece,
  reference,  // a whole frame whose data is the position of the payload in the sender's arena
};

struct Record {
  std::uint32_t mark;
  std::uint32_t prefix_bytes;
  std::uint64_t data_bytes;
  FrameHeader header;

  RecordKind kind() const { return static_cast<RecordKind>(mark & 0xff); }
  std::byte* at(std::size_t offset) { return reinterpret_cast<std::byte*>(this) + offset; }
  const std::byte* at(std::size_t offset) const {
    return reinterpret_cast<const std::byte*>(this) + offset;
  }
};
static_assert(sizeof(Record) == 48);

inline constexpr std::size_t record_line = 64;
inline constexpr std::size_t piece_offset = 16;
inline constexpr std::size_t data_offset = sizeof(Record);

constexpr std::size_t padded(std::size_t data_bytes) {
  return (data_bytes + 15) & ~std::size_t{15};
}

// Where a ring lives: the reader's progress on a line of its own, then the records.
struct RingMemory {
  std::uint64_t* consumed = nullptr;  // lines, ever; written by the reader only
  std::byte* records = nullptr;
  std::uint64_t lines = 0;  // a power of two

  RingMemory() = default;
  RingMemory(std::byte* base, std::size_t ring_bytes)
      : consumed(reinterpret_cast<std::uint64_t*>(base)),
        records(base + record_line),
        lines(ring_bytes / record_line) {}

  Record* record(std::uint64_t line) const {
    return reinterpret_cast<Record*>(records + (line & (lines - 1)) * record_line);
  }
};

class RingWriter {
 public:
  RingWriter() = default;
  explicit RingWriter(RingMemory memory) : memory_(memory) {}

  // Room for a record of `bytes` (head included), or null. Nothing is visible before `publish`.
  // REQUIRES: bytes <= record_bytes_max().
  Record* reserve(std::size_t bytes) {
    const std::uint64_t needed = lines_for(bytes);
    const std::uint64_t to_end = memory_.lines - (head_ & (memory_.lines - 1));
    const std::uint64_t skipped = needed <= to_end ? 0 : to_end;
    if (!has_room(skipped + needed)) return nullptr;
    if (skipped != 0) show(RecordKind::skip, skipped);
    return memory_.record(head_);
  }

  // REQUIRES: `bytes` as reserved.
  void publish(RecordKind kind, std::size_t bytes) { show(kind, lines_for(bytes)); }

  std::size_t record_bytes_max() const { return memory_.lines * record_line / 4; }

 private:
  static std::uint64_t lines_for(std::size_t bytes) {
    return (bytes + record_line - 1) / record_line;
  }

  // One line more than needed, for invariant 2.
  bool has_room(std::uint64_t needed) {
    if (head_ + needed - consumed_ < memory_.lines) return true;
    consumed_ = std::atomic_ref(*memory_.consumed).load(std::memory_order_acquire);
    return head_ + needed - consumed_ < memory_.lines;
  }

  void show(RecordKind kind, std::uint64_t lines) {
    std::atomic_ref(memory_.record(head_ + lines)->mark).store(0, std::memory_order_relaxed);
    std::atomic_ref(memory_.record(head_)->mark)
        .store(static_cast<std::uint32_t>(lines << 8 | static_cast<std::uint64_t>(kind)),
               std::memory_order_release);
    head_ += lines;
  }

  RingMemory memory_;
  std::uint64_t head_ = 0;      // lines, ever
  std::uint64_t consumed_ = 0;  // what was last read of the reader's progress
};

class RingReader {
 public:
  RingReader() = default;
  explicit RingReader(RingMemory memory) : memory_(memory) {}

  // The next record, or null. It stays until `consume`.
  const Record* peek() {
    for (;;) {
      Record* const record = memory_.record(tail_);
      const std::uint32_t mark = std::atomic_ref(record->mark).load(std::memory_order_acquire);
      if (mark == 0) return nullptr;
      lines_ = mark >> 8;
      if (record->kind() != RecordKind::skip) return record;
      consume();
    }
  }

  // REQUIRES: `peek` returned a record.
  void consume() {
    tail_ += lines_;
    std::atomic_ref(*memory_.consumed).store(tail_, std::memory_order_release);
  }

 private:
  RingMemory memory_;
  std::uint64_t tail_ = 0;   // lines, ever
  std::uint64_t lines_ = 0;  // of the record at the tail
};

}  // namespace resprout::runtime
