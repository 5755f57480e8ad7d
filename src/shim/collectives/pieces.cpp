#include "shim/collectives/pieces.hpp"

#include <algorithm>

namespace resprout::shim {
namespace {

// What `array` refers to from now on, if it is there at all.
template <typename T>
void keep(const T*& array, std::vector<T>& own, int size) {
  if (array == nullptr) return;
  own.assign(array, array + size);
  array = own.data();
}

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

bool is_of_one_group(MPI_Comm comm) {
  int is_inter = 1;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS &&
         is_inter == 0;
}

}  // namespace

bool Pieces::are_valid(int size) const {
  const bool has_displs = displs_ != nullptr || byte_displs_ != nullptr;
  if (counts_ == nullptr && !has_displs) return count_ >= 0 && datatype_ != MPI_DATATYPE_NULL;
  if (counts_ == nullptr || !has_displs) return false;
  for (int rank = 0; rank < size; ++rank)
    if (counts_[rank] < 0 || datatype_of(rank) == MPI_DATATYPE_NULL) return false;
  return true;
}

Piece Pieces::of(int rank) const {
  const MPI_Datatype datatype = datatype_of(rank);
  MPI_Aint lb = 0;
  MPI_Aint step = 1;
  if (datatypes_ == nullptr) PMPI_Type_get_extent(datatype, &lb, &step);
  const int count = counts_ != nullptr ? counts_[rank] : count_;
  return Piece::of(static_cast<const char*>(buffer_) + displacement_of(rank) * step, count,
                   datatype);
}

MPI_Aint Pieces::displacement_of(int rank) const {
  if (byte_displs_ != nullptr) return byte_displs_[rank];
  return displs_ != nullptr ? displs_[rank] : MPI_Aint{count_} * rank;
}

Pieces Pieces::kept(int size) const {
  Pieces copy = *this;
  if (buffer_ == MPI_IN_PLACE) return copy;  // they mean nothing
  const auto own = std::make_shared<Arrays>();
  keep(copy.counts_, own->counts, size);
  keep(copy.displs_, own->displs, size);
  keep(copy.byte_displs_, own->byte_displs, size);
  keep(copy.datatypes_, own->datatypes, size);
  copy.own_ = own;
  return copy;
}

Pieces kept(const Pieces& pieces, MPI_Comm comm) {
  return is_of_one_group(comm) ? pieces.kept(size_of(comm)) : pieces;
}

Pieces kept_at(int root, const Pieces& pieces, MPI_Comm comm) {
  if (!is_of_one_group(comm)) return pieces;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == root ? kept(pieces, comm) : pieces;
}

KeptCounts kept(const int* counts, MPI_Comm comm) {
  if (counts == nullptr || !is_of_one_group(comm)) return nullptr;
  return std::make_shared<const std::vector<int>>(counts, counts + size_of(comm));
}

PieceList::PieceList(const Pieces& pieces, int size) {
  for (int rank = 0; rank < size; ++rank) pieces_.push_back(pieces.of(rank));
}

bool PieceList::are_dense() const {
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.layout.is_dense; });
}

bool PieceList::use(MPI_Datatype datatype) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return piece.layout.datatype == datatype; });
}

void put_piece(runtime::BlockWriter& writer, int rank, const Piece& piece) {
  std::vector<std::byte> storage;
  writer.put(rank, packed(piece.buffer, piece.layout, storage));
}

runtime::Buffer row_of(runtime::Session& session, int rank, const Piece& piece) {
  runtime::Buffer row = session.allocate(piece.block_bytes());
  runtime::BlockWriter writer({row.data(), row.size()});
  put_piece(writer, rank, piece);
  return row;
}

int take_block(std::span<const std::byte> block, const Piece& piece) {
  Layout layout = piece.layout;
  if (block.size() > layout.packed_bytes) return MPI_ERR_TRUNCATE;
  // Less than there is room for is not valid, but harmless.
  if (block.size() < layout.packed_bytes)
    layout.count = static_cast<int>(block.size() * static_cast<std::size_t>(layout.count) /
                                    layout.packed_bytes);
  unpack(block, piece.buffer, layout);
  return MPI_SUCCESS;
}

}  // namespace resprout::shim
