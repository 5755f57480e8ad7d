#include "mpi/handles/datatypes/type_blocks.hpp"

#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {
namespace {

using BlocksOrNothing = std::optional<std::vector<TypeBlock>>;

// Blocks that are added one after the other. What is not known stays so.
class BlockList {
 public:
  void add(const TypeBlock& next) {
    if (!blocks_) return;
    if (!blocks_->empty() && blocks_->back().at + blocks_->back().bytes == next.at)
      blocks_->back().bytes += next.bytes;
    else
      blocks_->push_back(next);
  }
  // So many parts, one step from the other. Those that follow each other are a block at once.
  void add(const BlocksOrNothing& part, MPI_Aint count, MPI_Aint step_bytes, MPI_Aint begin) {
    if (!part) blocks_.reset();
    if (!part || part->empty() || count <= 0) return;
    const TypeBlock& first = part->front();
    if (part->size() == 1 && (count == 1 || step_bytes == first.bytes))
      return add({begin + first.at, first.bytes * count});
    for (MPI_Aint i = 0; i < count; ++i)
      for (const TypeBlock& block : *part) add({begin + i * step_bytes + block.at, block.bytes});
  }
  BlocksOrNothing take() { return std::move(blocks_); }

 private:
  BlocksOrNothing blocks_{std::in_place};
};

BlocksOrNothing repeated(const BlocksOrNothing& part, MPI_Aint count, MPI_Aint step_bytes,
                         MPI_Aint begin = 0) {
  BlockList list;
  list.add(part, count, step_bytes, begin);
  return list.take();
}

// What a datatype is made of.
struct RepeatedPart {
  explicit RepeatedPart(MPI_Datatype datatype) : blocks(blocks_of(datatype)) {
    MPI_Aint lb = 0;
    PMPI_Type_get_extent(datatype, &lb, &extent);
  }
  BlocksOrNothing row_of(MPI_Aint count) const { return repeated(blocks, count, extent); }

  BlocksOrNothing blocks;
  MPI_Aint extent = 0;
};

// A pair with a gap inside, as MPI_SHORT_INT is: its bytes say where they were.
BlocksOrNothing blocks_of_pair(MPI_Datatype pair, int size, MPI_Aint true_lb,
                               MPI_Aint true_extent) {
  alignas(std::max_align_t) std::array<unsigned char, 256> places{};
  std::array<unsigned char, 256> packed{};
  if (true_lb != 0 || true_extent > static_cast<MPI_Aint>(places.size())) return std::nullopt;
  std::iota(places.begin(), places.end(), static_cast<unsigned char>(0));
  int position = 0;
  PMPI_Pack(places.data(), 1, pair, packed.data(), static_cast<int>(packed.size()), &position,
            MPI_COMM_SELF);
  if (position != size) return std::nullopt;
  BlockList list;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) list.add({packed[i], 1});
  return list.take();
}

BlocksOrNothing blocks_of_predefined(MPI_Datatype datatype) {
  int size = 0;
  MPI_Aint true_lb = 0;
  MPI_Aint true_extent = 0;
  PMPI_Type_size(datatype, &size);
  PMPI_Type_get_true_extent(datatype, &true_lb, &true_extent);
  if (size == 0) return std::vector<TypeBlock>();
  if (size == true_extent) return std::vector<TypeBlock>{{true_lb, true_extent}};
  return blocks_of_pair(datatype, size, true_lb, true_extent);
}

// `step_bytes` from the beginning of a block to that of the next.
BlocksOrNothing blocks_of_vector(const TypeRecipe& made, const RepeatedPart& part,
                                 MPI_Aint step_bytes) {
  const MPI_Aint count = made.integer(0);
  return repeated(part.row_of(count > 0 ? made.integer(1) : 0), count, step_bytes);
}

// Displacements count extents unless they are addresses; lengths may be one for all.
BlocksOrNothing blocks_of_indexed(const TypeRecipe& made, bool has_one_length, bool has_addresses) {
  BlockList list;
  const RepeatedPart part(made.part(0));
  const auto count = static_cast<std::size_t>(made.integer(0));
  const std::size_t displacements = has_one_length ? 2 : 1 + count;
  for (std::size_t i = 0; i < count; ++i)
    list.add(part.blocks, made.integer(has_one_length ? 1 : 1 + i), part.extent,
             has_addresses ? made.address(i) : made.integer(displacements + i) * part.extent);
  return list.take();
}

BlocksOrNothing blocks_of_struct(const TypeRecipe& made) {
  BlockList list;
  const auto count = static_cast<std::size_t>(made.integer(0));
  for (std::size_t i = 0; i < count; ++i) {
    const RepeatedPart part(made.part(i));
    list.add(part.blocks, made.integer(1 + i), part.extent, made.address(i));
  }
  return list.take();
}

// The n-th of them from the one on whose indices are next to each other in memory.
std::size_t dimension_of(std::size_t n, std::size_t dimensions, MPI_Aint order) {
  return order == MPI_ORDER_FORTRAN ? n : dimensions - 1 - n;
}

BlocksOrNothing blocks_of_subarray(const TypeRecipe& made) {
  const RepeatedPart part(made.part(0));
  const auto dimensions = static_cast<std::size_t>(made.integer(0));
  const MPI_Aint order = made.integer(1 + 3 * dimensions);
  BlocksOrNothing blocks = part.blocks;
  MPI_Aint step_bytes = part.extent;
  for (std::size_t n = 0; n < dimensions; ++n) {
    const std::size_t i = 1 + dimension_of(n, dimensions, order);
    const MPI_Aint size = made.integer(i);
    const MPI_Aint taken = made.integer(i + dimensions);
    const MPI_Aint start = made.integer(i + 2 * dimensions);
    blocks = repeated(blocks, taken, step_bytes, start * step_bytes);
    step_bytes *= size;
  }
  return blocks;
}

// A dimension of a distributed array, of which processes have blocks in turn.
struct DealtDimension {
  MPI_Aint size;
  MPI_Aint length;  // of a block
  MPI_Aint processes;
  MPI_Aint place;  // ours among them

  // What we have of it.
  BlocksOrNothing part_of(const BlocksOrNothing& blocks, MPI_Aint step_bytes) const {
    BlockList list;
    const MPI_Aint whole = size / length;  // blocks, of all
    const MPI_Aint ours = whole / processes + (place < whole % processes ? 1 : 0);
    if (ours > 0)
      list.add(repeated(blocks, length, step_bytes), ours, processes * length * step_bytes,
               place * length * step_bytes);
    if (place == whole % processes)
      list.add(blocks, size % length, step_bytes, whole * length * step_bytes);
    return list.take();
  }
};

MPI_Aint dealt_length(MPI_Aint distribution, MPI_Aint argument, MPI_Aint size, MPI_Aint processes) {
  if (distribution == MPI_DISTRIBUTE_NONE) return size;
  if (argument != MPI_DISTRIBUTE_DFLT_DARG) return argument;
  return distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
}

// Ranks count processes as C does elements of an array, in either order.
BlocksOrNothing blocks_of_darray(const TypeRecipe& made) {
  const RepeatedPart part(made.part(0));
  const auto dimensions = static_cast<std::size_t>(made.integer(2));
  const MPI_Aint order = made.integer(3 + 4 * dimensions);
  MPI_Aint rank = made.integer(1);
  std::vector<DealtDimension> dealt(dimensions);
  for (std::size_t i = dimensions; i-- > 0;) {
    const MPI_Aint size = made.integer(3 + i);
    const MPI_Aint distribution = made.integer(3 + dimensions + i);
    const MPI_Aint argument = made.integer(3 + 2 * dimensions + i);
    const MPI_Aint processes = made.integer(3 + 3 * dimensions + i);
    dealt[i] = {size, dealt_length(distribution, argument, size, processes), processes,
                rank % processes};
    rank /= processes;
  }
  BlocksOrNothing blocks = part.blocks;
  MPI_Aint step_bytes = part.extent;
  for (std::size_t n = 0; n < dimensions; ++n) {
    const DealtDimension& next = dealt[dimension_of(n, dimensions, order)];
    blocks = next.part_of(blocks, step_bytes);
    step_bytes *= next.size;
  }
  return blocks;
}

}  // namespace

std::optional<std::vector<TypeBlock>> blocks_of(MPI_Datatype datatype) {
  const TypeRecipe made(datatype);
  if (made.is_predefined()) return blocks_of_predefined(datatype);
  switch (made.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return blocks_of(made.part(0));
    case MPI_COMBINER_CONTIGUOUS:
      return RepeatedPart(made.part(0)).row_of(made.integer(0));
    case MPI_COMBINER_VECTOR: {
      const RepeatedPart part(made.part(0));
      return blocks_of_vector(made, part, made.integer(2) * part.extent);
    }
    case MPI_COMBINER_HVECTOR:
      return blocks_of_vector(made, RepeatedPart(made.part(0)), made.address(0));
    case MPI_COMBINER_INDEXED:
      return blocks_of_indexed(made, false, false);
    case MPI_COMBINER_HINDEXED:
      return blocks_of_indexed(made, false, true);
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks_of_indexed(made, true, false);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks_of_indexed(made, true, true);
    case MPI_COMBINER_STRUCT:
      return blocks_of_struct(made);
    case MPI_COMBINER_SUBARRAY:
      return blocks_of_subarray(made);
    case MPI_COMBINER_DARRAY:
      return blocks_of_darray(made);
    default:
      return std::nullopt;
  }
}

}  // namespace resprout::shim
