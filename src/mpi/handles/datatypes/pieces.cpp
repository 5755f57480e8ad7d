#include "mpi/handles/datatypes/pieces.hpp"

#include <algorithm>

#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/process/mpi_running.hpp"

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
  MPI_Comm_size(comm, &size);
  return size;
}

bool is_of_one_group(MPI_Comm comm) {
  int is_inter = 1;
  return is_mpi_running() && comm != MPI_COMM_NULL &&
         PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter == 0;
}

bool is_usable(MPI_Datatype datatype) {
  return datatype != MPI_DATATYPE_NULL && is_committed(datatype);
}

}  // namespace

bool Pieces::are_valid(int size) const {
  if (buffer_ == MPI_IN_PLACE) return false;
  const bool has_displs = displs_ != nullptr || byte_displs_ != nullptr;
  if (counts_ == nullptr && !has_displs && count_ < 0) return size == 0;
  if (counts_ == nullptr && !has_displs) return is_usable(datatype_);
  if (counts_ == nullptr || !has_displs) return false;
  for (int rank = 0; rank < size; ++rank)
    if (counts_[rank] < 0 || !is_usable(datatype_of(rank))) return false;
  return true;
}

bool Pieces::use(MPI_Datatype datatype) const {
  if (datatypes_ == nullptr || own_ == nullptr) return datatype_ == datatype;
  return std::ranges::find(own_->datatypes, datatype) != own_->datatypes.end();
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

std::vector<Piece> Pieces::all(int size) const {
  std::vector<Piece> all;
  all.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) all.push_back(of(rank));
  return all;
}

MPI_Aint Pieces::displacement_of(int rank) const {
  if (byte_displs_ != nullptr) return byte_displs_[rank];
  return displs_ != nullptr ? displs_[rank] : MPI_Aint{count_} * rank;
}

// It refers to these from now on.
std::shared_ptr<Pieces::Arrays> Pieces::own_arrays(int size) {
  auto own = std::make_shared<Arrays>();
  keep(counts_, own->counts, size);
  keep(displs_, own->displs, size);
  keep(byte_displs_, own->byte_displs, size);
  keep(datatypes_, own->datatypes, size);
  own_ = own;
  return own;
}

Pieces Pieces::kept(int size) const {
  Pieces copy = *this;
  if (buffer_ != MPI_IN_PLACE) copy.own_arrays(size);  // else they mean nothing
  return copy;
}

Pieces Pieces::among(const runtime::Session& session) const {
  if (session.is_whole() || counts_ == nullptr || buffer_ == MPI_IN_PLACE) return *this;
  Pieces copy = *this;
  const auto own = copy.own_arrays(session.everybody().size());
  for (std::size_t i = 0; i < own->counts.size(); ++i) {
    if (session.members().index_of_comm_rank(static_cast<int>(i)) != no_rank) continue;
    own->counts[i] = 0;
    if (!own->displs.empty()) own->displs[i] = 0;
    if (!own->byte_displs.empty()) own->byte_displs[i] = 0;
    if (!own->datatypes.empty()) own->datatypes[i] = MPI_BYTE;
  }
  return copy;
}

bool Pieces::depend_on_lost(const runtime::Session& session) const {
  if (session.is_whole() || counts_ == nullptr || displs_ == nullptr || buffer_ == MPI_IN_PLACE)
    return false;
  bool is_count_wrong = false;
  bool is_place_wrong = false;
  for (int rank = 0; rank < session.everybody().size(); ++rank) {
    const bool is_lost = session.members().index_of_comm_rank(rank) == no_rank;
    is_count_wrong = is_count_wrong || (is_lost && counts_[rank] < 0);
    is_place_wrong = is_place_wrong || (!is_lost && displs_[rank] < 0);
  }
  return is_count_wrong && is_place_wrong;
}

Pieces kept(const Pieces& pieces, MPI_Comm comm) {
  return is_of_one_group(comm) ? pieces.kept(size_of(comm)) : pieces;
}

Pieces kept_at(int root, const Pieces& pieces, MPI_Comm comm) {
  if (!is_of_one_group(comm)) return pieces;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank == root ? kept(pieces, comm) : pieces;
}

KeptCounts kept(const int* counts, MPI_Comm comm) {
  if (counts == nullptr || !is_of_one_group(comm)) return nullptr;
  return std::make_shared<const std::vector<int>>(counts, counts + size_of(comm));
}

PieceList::PieceList(const Pieces& pieces, int size) : pieces_(pieces.all(size)) {}

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

runtime::Buffer row_of(runtime::Session& session, int rank, const Piece& piece, bool takes_all) {
  runtime::Buffer row = session.allocate(piece.block_bytes());
  std::vector<std::byte> storage;
  runtime::BlockWriter({row.data(), row.size()})
      .put(rank, packed(piece.buffer, piece.layout, storage), takes_all);
  return row;
}

int take_block(std::span<const std::byte> block, const Piece& piece) {
  return take_payload(block, piece.buffer, piece.layout);
}

void expect_counts(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int ranks) {
  if (recvtype != MPI_COUNT || recvcount != 1 || sendbuf == MPI_IN_PLACE) return;
  if (recvbuf == nullptr) return;
  std::fill_n(static_cast<MPI_Count*>(recvbuf), ranks, MPI_Count{0});
}

}  // namespace resprout::shim
