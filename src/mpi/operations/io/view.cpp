#include "mpi/operations/io/view.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {
ViewParts::ViewParts(MPI_File fh) {
  std::array<char, MPI_MAX_DATAREP_STRING + 1> representation{};
  PMPI_File_get_view(fh, &displacement, &element, &file_type, representation.data());
  PMPI_Type_size(element, &element_bytes);
  is_native = std::string_view(representation.data()) == "native";
}

// MPI gives copies.
ViewParts::~ViewParts() {
  for (MPI_Datatype* type : {&element, &file_type})
    if (combiner_of(*type) != MPI_COMBINER_NAMED) PMPI_Type_free(type);
}

View::View(MPI_Offset displacement, MPI_Offset element_bytes, std::vector<TypeBlock> blocks,
           MPI_Offset extent)
    : displacement_(displacement),
      element_bytes_(element_bytes),
      blocks_(std::move(blocks)),
      extent_(extent),
      begins_{0} {
  for (const TypeBlock& block : blocks_) begins_.push_back(begins_.back() + block.bytes);
  // One byte behind the other, in one piece however much it is.
  if (blocks_.size() != 1 || blocks_[0].bytes != extent_) return;
  constexpr MPI_Offset endless = MPI_Offset{1} << 62;
  displacement_ += std::exchange(blocks_[0].at, 0);
  blocks_[0].bytes = endless;
  begins_[1] = endless;
}

std::optional<View> View::of(MPI_File fh) {
  const ViewParts parts(fh);
  auto blocks = parts.is_native ? blocks_of(parts.file_type) : std::nullopt;
  if (!blocks) return std::nullopt;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(parts.file_type, &lower, &extent);
  return View(parts.displacement, parts.element_bytes, std::move(*blocks), extent);
}

}  // namespace resprout::shim
