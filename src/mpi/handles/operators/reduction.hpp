// What a reduction of MPI buffers is to a session: an input, a way to combine, an output.
//
// Payloads are elements as they lie in memory, combined by MPI_Reduce_local; or, where sums are to
// be reproducible, what stands for them (handles/operators/reproducible.hpp).
// Thread rule: one thread a reduction; lives as long as its session's operation runs.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/operators/reproducible.hpp"

namespace resprout::shim {

// What a call in place would destroy that may have to be made again.
class SavedInput {
 public:
  SavedInput(const void* sendbuf, void* recvbuf, const Layout& layout)
      : recvbuf_(recvbuf), layout_(layout) {
    if (sendbuf == MPI_IN_PLACE) input_ = runtime::Buffer(spread(recvbuf, layout));
  }
  void restore() const {
    if (input_.data() != nullptr) gather_up(input_.view(), recvbuf_, layout_);
  }

 private:
  void* recvbuf_;
  const Layout& layout_;
  runtime::Buffer input_;
};

// Nothing: no sum that has to be reproducible.
std::optional<SumForm> reproducible_form(MPI_Op op, MPI_Datatype datatype, std::int64_t count);

class Reduction {
 public:
  Reduction(MPI_Op op, MPI_Datatype datatype, std::int64_t count);

  // What of `buffer` goes into the reduction; valid as long as both live.
  std::span<const std::byte> input(const void* buffer);
  // Its size.
  std::size_t input_bytes() const { return form_ ? form_->sum_bytes() : layout_.spread_bytes; }
  // The size of such an input without gaps.
  std::size_t bytes() const { return form_ ? form_->sum_bytes() : layout_.packed_bytes; }
  // Whether an input is the elements of the datatype, and nothing else.
  bool has_elements_side_by_side() const { return !form_ && layout_.is_dense; }
  runtime::Combiner& combiner();
  // What goes into it for a process whose send buffer is as fill(buffer) makes it; nothing if that
  // returns false. There is room for what lies between the parts of elements, too, and behind them.
  template <typename Fill>
  std::optional<std::vector<std::byte>> contribution(Fill fill) const {
    const Room room = room_for_elements();
    std::vector<std::byte> memory(room.bytes);
    void* const buffer = memory.data() + room.before;
    if (!fill(buffer)) return std::nullopt;
    if (form_) return sums_of(buffer, *form_);
    if (layout_.is_dense) return memory;
    const auto elements = spread(buffer, layout_);
    return std::vector<std::byte>(elements.begin(), elements.end());
  }
  // Writes a result into a receive buffer.
  void write(std::span<const std::byte> result, void* buffer) const;
  // Of a result the elements from `first` on.
  void write_part(std::span<const std::byte> result, std::int64_t first, std::int64_t count,
                  void* buffer) const;
  // It can be combined in parts, in any order of ranks.
  bool can_be_sliced() const { return !form_ && layout_.is_dense && elements_.is_commutative(); }
  const Layout& layout() const { return layout_; }
  std::int64_t count() const { return layout_.count; }
  MPI_Datatype datatype() const { return layout_.datatype; }
  MPI_Op op() const { return op_; }
  // MPI_SUCCESS, or what MPI_Reduce_local said.
  int code() const { return elements_.code(); }

 private:
  // For a send buffer with whole elements, from their lower to their upper bounds.
  struct Room {
    std::size_t bytes;
    std::size_t before;  // of them before the buffer's address
  };
  Room room_for_elements() const;

  MPI_Op op_;
  Layout layout_;
  std::optional<SumForm> form_;  // of a sum that has to be reproducible
  MpiCombiner elements_;
  SumCombiner sums_;
  std::vector<std::byte> storage_;
};

}  // namespace resprout::shim
