// How often each MPI call was made, was carried by the MPI library, was touched by a loss, and
// returned an error for a loss.
//
// A fixed table, found by the address of the call's name, so that counting is a few instructions
// and takes no lock. Equal names at several addresses are several rows; `for_each` says a name as
// often. Safe from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace resprout::shim {

struct Tally {
  std::atomic<const char*> call{nullptr};
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> native{0};
  std::atomic<std::uint64_t> touched{0};
  std::atomic<std::uint64_t> errors{0};
};

class Tallies {
 public:
  // The row of a call. REQUIRES: `call` is a string literal; there are fewer than `rows` of them.
  Tally& of(const char* call) {
    const auto address = reinterpret_cast<std::uintptr_t>(call);
    for (std::size_t i = 0; i < rows; ++i) {
      Tally& tally = table_[(address * 0x9e3779b97f4a7c15u + i * step) >> shift];
      const char* found = tally.call.load(std::memory_order_acquire);
      if (found == call) return tally;
      if (found == nullptr && (tally.call.compare_exchange_strong(found, call) || found == call))
        return tally;
    }
    std::abort();
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Tally& tally : table_)
      if (tally.call.load(std::memory_order_acquire) != nullptr) visit(tally);
  }

 private:
  static constexpr std::size_t rows = 256;
  static constexpr int shift = 64 - 8;
  static constexpr std::uint64_t step = std::uint64_t{1} << shift;  // to the next row

  std::array<Tally, rows> table_;
};

}  // namespace resprout::shim
