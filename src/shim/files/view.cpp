#include "shim/files/view.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "shim/payload.hpp"

namespace resprout::shim {
namespace {

// What a file's view is made of; MPI gives copies that are to be freed.
class ViewParts {
 public:
  explicit ViewParts(MPI_File fh) {
    PMPI_File_get_view(fh, &displacement, &element, &file_type, representation_.data());
  }
  ~ViewParts() {
    for (MPI_Datatype* type : {&element, &file_type})
      if (combiner_of(*type) != MPI_COMBINER_NAMED) PMPI_Type_free(type);
  }
  ViewParts(const ViewParts&) = delete;
  ViewParts& operator=(const ViewParts&) = delete;

  bool is_native() const { return std::string_view(representation_.data()) == "native"; }

  MPI_Offset displacement = 0;
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Datatype file_type = MPI_DATATYPE_NULL;

 private:
  std::array<char, MPI_MAX_DATAREP_STRING + 1> representation_{};
};

}  // namespace

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
  auto blocks = parts.is_native() ? blocks_of(parts.file_type) : std::nullopt;
  if (!blocks) return std::nullopt;
  int element_bytes = 0;
  PMPI_Type_size(parts.element, &element_bytes);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(parts.file_type, &lower, &extent);
  return View(parts.displacement, element_bytes, std::move(*blocks), extent);
}

}  // namespace resprout::shim
