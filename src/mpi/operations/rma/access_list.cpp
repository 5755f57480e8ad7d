#include "mpi/operations/rma/access_list.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_blocks.hpp"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"
#include "mpi/handles/predefined_numbers.hpp"

namespace resprout::shim {
namespace {

// Before the blocks of one element, and the data.
struct Header {
  AccessKind kind;
  int op;     // predefined_number
  int basic;  // the predefined datatype that all of it is of, where `op` needs it
  std::int32_t count;
  std::int64_t at;
  std::int64_t extent;
  std::uint64_t blocks;
  std::uint64_t packed_bytes;  // of all elements
  std::uint64_t data_bytes;
};

template <typename T>
void append(std::vector<std::byte>& to, const T* from, std::size_t count) {
  const auto bytes = std::as_bytes(std::span(from, count));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The predefined datatype below it; MPI allows accumulating of one only.
MPI_Datatype basic_of(MPI_Datatype datatype) {
  const TypeRecipe recipe(datatype);
  if (recipe.is_predefined()) return datatype;
  return recipe.has_parts() ? basic_of(recipe.part(0)) : MPI_DATATYPE_NULL;
}

std::optional<std::vector<TypeBlock>> blocks_at(const AtTarget& place) {
  if (place.count == 0) return std::vector<TypeBlock>();
  const TypeFacts& facts = facts_of(place.datatype);
  if (facts.is_dense) return std::vector{TypeBlock{0, static_cast<MPI_Aint>(facts.size)}};
  return blocks_of(place.datatype);
}

// One access of a list, at its target.
class Access {
 public:
  // Takes it off the list.
  Access(std::span<const std::byte>& list, const WindowMemory& memory) {
    std::memcpy(&header_, list.data(), sizeof header_);
    list = list.subspan(sizeof header_);
    blocks_.resize(header_.blocks);
    const std::size_t bytes = blocks_.size() * sizeof(TypeBlock);
    if (bytes > 0) std::memcpy(blocks_.data(), list.data(), bytes);
    data_ = list.subspan(bytes, header_.data_bytes);
    list = list.subspan(bytes + data_.size());
    base_ = memory.base + header_.at * memory.unit;
  }

  void carry_out(std::vector<std::byte>& answer) const {
    if (header_.kind == AccessKind::put) return write(data_);
    const std::size_t begin = answer.size();
    const bool is_answered = header_.kind != AccessKind::accumulate;
    std::vector<std::byte> apart;
    std::vector<std::byte>& there = is_answered ? answer : apart;
    read(there);
    const std::span read_bytes = std::span(there).subspan(is_answered ? begin : 0);
    switch (header_.kind) {
      case AccessKind::accumulate:
      case AccessKind::get_accumulate:
        return combine(read_bytes);
      case AccessKind::compare_and_swap: {
        const auto [compared, written] =
            std::pair(data_.first(header_.packed_bytes), data_.subspan(header_.packed_bytes));
        if (std::ranges::equal(compared, read_bytes)) write(written);
        return;
      }
      default:
        return;
    }
  }

 private:
  template <typename Do>
  void for_each_block(Do act) const {
    if (header_.data_bytes == 0 && header_.packed_bytes == 0) return;
    if (blocks_.size() == 1 && blocks_[0].bytes == header_.extent)  // all in one
      return act(base_ + blocks_[0].at, header_.packed_bytes);
    for (std::int64_t element = 0; element < header_.count; ++element)
      for (const TypeBlock& block : blocks_)
        act(base_ + element * header_.extent + block.at, static_cast<std::size_t>(block.bytes));
  }

  void write(std::span<const std::byte> packed) const {
    for_each_block([&](std::byte* to, std::size_t bytes) {
      std::memcpy(to, packed.data(), bytes);
      packed = packed.subspan(bytes);
    });
  }

  void read(std::vector<std::byte>& packed) const {
    for_each_block([&](const std::byte* from, std::size_t bytes) { append(packed, from, bytes); });
  }

  void combine(std::span<const std::byte> there) const {
    const MPI_Op op = predefined_op(header_.op);
    if (op == MPI_NO_OP || header_.packed_bytes == 0) return;
    if (op == MPI_REPLACE) return write(data_);
    const MPI_Datatype basic = predefined_type(header_.basic);
    const auto count = static_cast<std::int64_t>(header_.packed_bytes / facts_of(basic).size);
    const Layout layout = layout_of(basic, count);
    // As they lie in memory: pairs of MPI's own have gaps.
    std::vector<std::byte> ours(layout.spread_bytes);
    std::vector<std::byte> sum(layout.spread_bytes);
    unpack(data_, ours.data() - layout.true_lb, layout);
    unpack(there, sum.data() - layout.true_lb, layout);
    MpiCombiner(op, layout).combine(ours, sum);
    std::vector<std::byte> storage;
    write(packed(sum.data() - layout.true_lb, layout, storage));
  }

  Header header_{};
  std::vector<TypeBlock> blocks_;
  std::span<const std::byte> data_;
  std::byte* base_ = nullptr;
};

}  // namespace

bool AccessList::add(AccessKind kind, MPI_Op op, const AtTarget& place,
                     std::span<const std::byte> data) {
  const auto blocks = blocks_at(place);
  if (!blocks) return false;
  const bool is_combined = kind == AccessKind::accumulate || kind == AccessKind::get_accumulate;
  const MPI_Datatype basic = is_combined ? basic_of(place.datatype) : MPI_BYTE;
  if (basic == MPI_DATATYPE_NULL) return false;
  const TypeFacts& facts = facts_of(place.datatype);
  const Header header{
      .kind = kind,
      .op = predefined_number(op),
      .basic = predefined_number(basic),
      .count = place.count,
      .at = place.at,
      .extent = facts.extent,
      .blocks = blocks->size(),
      .packed_bytes = facts.size * static_cast<std::size_t>(place.count),
      .data_bytes = data.size(),
  };
  append(bytes_, &header, 1);
  append(bytes_, blocks->data(), blocks->size());
  append(bytes_, data.data(), data.size());
  if (kind != AccessKind::put && kind != AccessKind::accumulate)
    answer_bytes_ += header.packed_bytes;
  return true;
}

void AccessList::clear() {
  bytes_.clear();
  answer_bytes_ = 0;
}

Reach reach_of(const AtTarget& place, int unit) {
  if (place.count == 0) return {0, 0};
  const TypeFacts& facts = facts_of(place.datatype);
  if (facts.size == 0) return {0, 0};
  const MPI_Aint at = place.at * unit + facts.true_lb;
  const MPI_Aint to_last = facts.extent * (place.count - 1);
  return {at + std::min(to_last, MPI_Aint{0}),
          at + std::max(to_last, MPI_Aint{0}) + facts.true_extent};
}

void carry_out(std::span<const std::byte> list, const WindowMemory& memory,
               std::vector<std::byte>& answer) {
  while (!list.empty()) Access(list, memory).carry_out(answer);
}

}  // namespace resprout::shim
