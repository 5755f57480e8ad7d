#include "mpi/handles/datatypes/payload.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "mpi/handles/datatypes/mpi_pack.hpp"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/process/thread_level.hpp"
#include "runtime/copy.hpp"

namespace resprout::shim {
namespace {

const char* element_base(const std::byte* payload, const Layout& layout) {
  return reinterpret_cast<const char*>(payload) - layout.true_lb;
}

bool is_apart(std::span<const std::byte> payload, const void* buffer) {
  const auto from = reinterpret_cast<std::uintptr_t>(payload.data());
  const auto to = reinterpret_cast<std::uintptr_t>(buffer);
  return from + payload.size() <= to || to + payload.size() <= from;
}

}  // namespace

Layout layout_of(MPI_Datatype datatype, std::int64_t count) {
  const TypeFacts& facts = facts_of(datatype);
  Layout layout{
      .datatype = datatype, .count = count, .is_dense = facts.is_dense, .true_lb = facts.true_lb};
  if (count == 0 || facts.size == 0) return layout;
  layout.packed_bytes = facts.size * static_cast<std::size_t>(count);
  const MPI_Aint to_last = facts.extent * (count - 1);
  layout.true_lb += std::min(to_last, MPI_Aint{0});
  layout.spread_bytes = static_cast<std::size_t>(std::abs(to_last) + facts.true_extent);
  return layout;
}

std::span<const std::byte> packed(const void* buffer, const Layout& layout,
                                  std::vector<std::byte>& storage) {
  // MPI_Pack refuses to write nothing to nowhere.
  if (layout.is_dense || layout.packed_bytes == 0)
    return {static_cast<const std::byte*>(buffer), layout.packed_bytes};
  // Of what is used again nothing is cleared.
  if (storage.size() < layout.packed_bytes) storage.resize(layout.packed_bytes);
  if (const TypePacker* packer = packer_of(layout.datatype))
    return PackedPieces(*packer, buffer, layout.packed_bytes).next(storage);
  pack_by_mpi(buffer, layout.count, layout.datatype, std::span(storage).first(layout.packed_bytes));
  return {storage.data(), layout.packed_bytes};
}

std::span<const std::byte> spread(const void* buffer, const Layout& layout) {
  return {static_cast<const std::byte*>(buffer) + layout.true_lb, layout.spread_bytes};
}

void unpack(std::span<const std::byte> payload, void* buffer, const Layout& layout) {
  if (payload.empty()) return;
  if (layout.is_dense) {
    runtime::copy_bytes(buffer, payload.data(), payload.size());
    return;
  }
  unpack_by_mpi(payload, buffer, layout.count, layout.datatype);
}

int take_payload(std::span<const std::byte> payload, void* buffer, const Layout& layout) {
  if (payload.size() > layout.packed_bytes) return MPI_ERR_TRUNCATE;
  Layout taken = layout;
  // Less than there is room for is not valid, but harmless.
  if (payload.size() < layout.packed_bytes)
    taken = layout_of(layout.datatype,
                      static_cast<std::int64_t>(payload.size() / facts_of(layout.datatype).size));
  unpack(payload.first(taken.packed_bytes), buffer, taken);
  return MPI_SUCCESS;
}

void gather_up(std::span<const std::byte> payload, void* buffer, const Layout& layout) {
  if (payload.empty()) return;
  if (layout.is_dense && is_apart(payload, buffer)) {
    runtime::copy_bytes(buffer, payload.data(), payload.size());
    return;
  }
  if (layout.is_dense) {
    std::memmove(buffer, payload.data(), payload.size());
    return;
  }
  std::vector<std::byte> storage;
  unpack(repacked(payload, layout, storage), buffer, layout);
}

void gather_up_part(std::span<const std::byte> payload, const Layout& all, std::int64_t first,
                    void* buffer, const Layout& part) {
  if (part.packed_bytes == 0) return;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(all.datatype, &lb, &extent);
  const auto begin = static_cast<std::size_t>(extent * first + part.true_lb - all.true_lb);
  gather_up(payload.subspan(begin, part.spread_bytes), buffer, part);
}

std::span<const std::byte> repacked(std::span<const std::byte> payload, const Layout& layout,
                                    std::vector<std::byte>& storage) {
  return packed(element_base(payload.data(), layout), layout, storage);
}

bool MpiCombiner::is_for_program() const {
  const MPI_Op predefined[] = {MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
                               MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  const bool is_predefined =
      std::find(std::begin(predefined), std::end(predefined), op_) != std::end(predefined);
  return !is_predefined || !may_call_mpi_anywhere();
}

void MpiCombiner::combine(std::span<const std::byte> lower, std::span<std::byte> upper) {
  if (upper.empty()) return;
  const char* from = element_base(lower.data(), layout_);
  char* to = const_cast<char*>(element_base(upper.data(), layout_));
  const MPI_Aint extent = facts_of(layout_.datatype).extent;
  for (std::int64_t left = layout_.count; left > 0;) {
    const auto some = static_cast<int>(std::min(left, at_once_));
    const int code = PMPI_Reduce_local(from, to, some, layout_.datatype, op_);
    if (code != MPI_SUCCESS) code_ = code;
    from += extent * some;
    to += extent * some;
    left -= some;
  }
}

bool MpiCombiner::is_commutative() const {
  int commutes = 0;
  PMPI_Op_commutative(op_, &commutes);
  return commutes != 0;
}

}  // namespace resprout::shim
