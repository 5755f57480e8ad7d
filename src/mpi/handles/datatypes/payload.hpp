// Between typed MPI buffers and plain bytes.
//
// Two forms. *Packed*: what MPI_Pack makes, without gaps; broadcasts use it, because the layouts of
// sender and receiver may differ. *Spread*: the bytes from the first to the last element as they
// lie in memory, gaps included; reductions use it, because MPI_Reduce_local wants elements where
// the datatype says. For a dense datatype both are the buffer itself. The gaps of a receive buffer
// are never written.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/operation.hpp"

namespace resprout::shim {

// How `count` elements of a datatype lie in memory.
struct Layout {
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  std::int64_t count = 0;
  bool is_dense = false;         // no gaps, in order, starts at the buffer's address
  MPI_Aint true_lb = 0;          // bytes from the buffer's address to the first byte of all
  std::size_t packed_bytes = 0;  // size of all elements
  std::size_t spread_bytes = 0;  // first byte to last byte
};
Layout layout_of(MPI_Datatype datatype, std::int64_t count);

// The payload of a send buffer; `storage` holds it where the buffer itself cannot be used.
std::span<const std::byte> packed(const void* buffer, const Layout& layout,
                                  std::vector<std::byte>& storage);
std::span<const std::byte> spread(const void* buffer, const Layout& layout);

// Writes a payload into a receive buffer. REQUIRES: the buffer has room for it.
void unpack(std::span<const std::byte> payload, void* buffer, const Layout& layout);
// The same for what another process has sent: of whole elements what there is. MPI_ERR_TRUNCATE: it
// is more than there is room for, and nothing is written.
int take_payload(std::span<const std::byte> payload, void* buffer, const Layout& layout);
// May lie in that buffer itself: the only contribution to a sum in place is its result.
void gather_up(std::span<const std::byte> payload, void* buffer, const Layout& layout);
// Of the elements of `payload` those from `first` on that the receive buffer has room for.
void gather_up_part(std::span<const std::byte> payload, const Layout& all, std::int64_t first,
                    void* buffer, const Layout& part);

// From spread to packed.
std::span<const std::byte> repacked(std::span<const std::byte> payload, const Layout& layout,
                                    std::vector<std::byte>& storage);

// Combines spread payloads by MPI_Reduce_local.
class MpiCombiner final : public runtime::Combiner {
 public:
  // `at_once`: elements that MPI combines in one call, of which it counts at most an int.
  MpiCombiner(MPI_Op op, const Layout& layout,
              std::int64_t at_once = std::numeric_limits<int>::max())
      : op_(op), layout_(layout), at_once_(at_once) {}
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override;
  bool is_commutative() const override;
  // Operators of the program are its own threads' business: who knows what they use.
  bool is_for_program() const override;
  // MPI_SUCCESS, or what MPI_Reduce_local said.
  int code() const { return code_; }

 private:
  MPI_Op op_;
  Layout layout_;
  std::int64_t at_once_;
  int code_ = MPI_SUCCESS;
};

}  // namespace resprout::shim
