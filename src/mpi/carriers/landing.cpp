#include "mpi/carriers/landing.hpp"
#include "runtime/mutex.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace resprout::shim {
namespace {

// So much more than the elements need may the shape of a buffer take, and so many times as much.
constexpr std::size_t spare_bytes = std::size_t{1} << 20;
constexpr std::size_t spread_max = 4;
constexpr std::size_t alignment = 64;

std::uintptr_t first_byte(const Piece& piece) {
  return reinterpret_cast<std::uintptr_t>(piece.buffer) +
         static_cast<std::uintptr_t>(piece.layout.true_lb);
}

struct Range {
  std::uintptr_t first = std::numeric_limits<std::uintptr_t>::max();
  std::uintptr_t end = 0;
};
Range range_of(const std::vector<Piece>& pieces) {
  Range range;
  for (const Piece& piece : pieces) {
    range.first = std::min(range.first, first_byte(piece));
    range.end = std::max(range.end, first_byte(piece) + piece.layout.spread_bytes);
  }
  return range;
}

}  // namespace

void abandon(runtime::Buffer memory) {
  struct Abandoned {
    runtime::Mutex mutex;
    std::vector<runtime::Buffer> all RESPROUT_GUARDED_BY(mutex);
  };
  static auto* const abandoned = new Abandoned;
  const runtime::MutexLock guard(abandoned->mutex);
  abandoned->all.push_back(std::move(memory));
}

Landing::Landing(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](const Piece& piece) { return piece.layout.packed_bytes == 0; });
  if (pieces_.empty()) {
    memory_ = runtime::Buffer(alignment);
    return;
  }
  const auto [first, end] = range_of(pieces_);
  const bool is_dense_enough = end - first <= spread_max * bytes_of(pieces_) + spare_bytes;
  if (pieces_.size() == 1 || is_dense_enough) {
    memory_ = runtime::Buffer(end - first + alignment);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + first % alignment;
    shift_ = static_cast<std::ptrdiff_t>(begin - first);
    return;
  }
  std::vector<std::byte> storage;
  for (const Piece& piece : pieces_)
    kept_.emplace_back(packed(piece.buffer, piece.layout, storage));
}

void* Landing::at(void* buffer) const {
  if (!is_apart()) return buffer;
  // No elements: any address will do, but that of the input in place.
  if (pieces_.empty()) return const_cast<std::byte*>(memory_.data());
  return static_cast<char*>(buffer) + shift_;
}

const void* Landing::input_at(const void* buffer) const {
  return is_apart() ? buffer : MPI_IN_PLACE;
}

void Landing::take() const {
  if (!is_apart()) return;
  for (const Piece& piece : pieces_)
    gather_up(spread(piece.buffer + shift_, piece.layout), piece.buffer, piece.layout);
}

void Landing::give_up() {
  if (is_apart()) abandon(std::move(memory_));
  for (std::size_t i = 0; i < kept_.size(); ++i)
    unpack(kept_[i].view(), pieces_[i].buffer, pieces_[i].layout);
}

}  // namespace resprout::shim
