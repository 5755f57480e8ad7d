#include "mpi/handles/datatypes/type_order.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {
namespace {

// What a datatype is made of, and how long some of them in a row are.
class Part {
 public:
  explicit Part(MPI_Datatype datatype) : is_in_order_(shim::is_in_order(datatype)) {
    MPI_Aint lb = 0;
    PMPI_Type_get_extent(datatype, &lb, &extent_);
    PMPI_Type_get_true_extent(datatype, &first_, &bytes_);
  }

  MPI_Aint extent() const { return extent_; }
  MPI_Aint first() const { return first_; }  // byte
  MPI_Aint bytes(MPI_Aint count) const { return extent_ * (count - 1) + bytes_; }
  // So many ascend, one extent from the other.
  bool ascends(MPI_Aint count) const {
    return count == 0 || (is_in_order_ && (count == 1 || extent_ >= bytes_));
  }
  // So many blocks of so many.
  bool ascends(MPI_Aint blocks, MPI_Aint length, MPI_Aint step_bytes) const {
    if (blocks == 0 || length == 0) return true;
    return ascends(length) && (blocks == 1 || step_bytes >= bytes(length));
  }

 private:
  bool is_in_order_;
  MPI_Aint extent_ = 0;
  MPI_Aint first_ = 0;
  MPI_Aint bytes_ = 0;
};

// Blocks that are added one after the other.
class Blocks {
 public:
  void add(const Part& part, MPI_Aint length, MPI_Aint displacement) {
    if (length == 0) return;
    const MPI_Aint begin = displacement + part.first();
    ascend_ = ascend_ && part.ascends(length) && begin >= end_;
    end_ = begin + part.bytes(length);
  }
  bool ascend() const { return ascend_; }

 private:
  MPI_Aint end_ = std::numeric_limits<MPI_Aint>::min();
  bool ascend_ = true;
};

bool ascends_struct(const TypeRecipe& made) {
  Blocks blocks;
  const auto count = static_cast<std::size_t>(made.integer(0));
  for (std::size_t i = 0; i < count; ++i)
    blocks.add(Part(made.part(i)), made.integer(1 + i), made.address(i));
  return blocks.ascend();
}

// Displacements count extents unless they are addresses; lengths may be one for all.
bool ascends_indexed(const TypeRecipe& made, bool has_one_length, bool has_addresses) {
  Blocks blocks;
  const Part part(made.part(0));
  const auto count = static_cast<std::size_t>(made.integer(0));
  const std::size_t displacements = has_one_length ? 2 : 1 + count;
  for (std::size_t i = 0; i < count; ++i)
    blocks.add(part, made.integer(has_one_length ? 1 : 1 + i),
               has_addresses ? made.address(i) : made.integer(displacements + i) * part.extent());
  return blocks.ascend();
}

}  // namespace

bool is_in_order(MPI_Datatype datatype) {
  const TypeRecipe made(datatype);
  if (made.is_predefined()) return true;
  switch (made.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return is_in_order(made.part(0));
    case MPI_COMBINER_CONTIGUOUS:
      return Part(made.part(0)).ascends(made.integer(0));
    case MPI_COMBINER_VECTOR: {
      const Part part(made.part(0));
      return part.ascends(made.integer(0), made.integer(1), made.integer(2) * part.extent());
    }
    case MPI_COMBINER_HVECTOR:
      return Part(made.part(0)).ascends(made.integer(0), made.integer(1), made.address(0));
    case MPI_COMBINER_INDEXED:
      return ascends_indexed(made, false, false);
    case MPI_COMBINER_HINDEXED:
      return ascends_indexed(made, false, true);
    case MPI_COMBINER_INDEXED_BLOCK:
      return ascends_indexed(made, true, false);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return ascends_indexed(made, true, true);
    case MPI_COMBINER_STRUCT:
      return ascends_struct(made);
    case MPI_COMBINER_SUBARRAY:
      return Part(made.part(0)).ascends(std::numeric_limits<int>::max());
    default:
      return false;
  }
}

}  // namespace resprout::shim
