#include "mpi/carriers/exchanges/neighbor_exchange.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace resprout::shim {
namespace {

// A block for a rank is a row itself: a block for each part, by its number.
void append_part(std::vector<std::byte>& row, int number, std::span<const std::byte> bytes) {
  const std::size_t end = row.size();
  row.resize(end + runtime::block_bytes(bytes.size()));
  runtime::BlockWriter(std::span(row).subspan(end)).put(number, bytes);
}

bool are_dense(const std::vector<Piece>& pieces) {
  return std::ranges::all_of(pieces, [](const Piece& piece) { return piece.layout.is_dense; });
}

bool use(const std::vector<Piece>& pieces, MPI_Datatype datatype) {
  return std::ranges::any_of(pieces,
                             [&](const Piece& piece) { return piece.layout.datatype == datatype; });
}

}  // namespace

NeighborExchange::NeighborExchange(runtime::Session& session, const Neighbors& neighbors,
                                   CallData call_data)
    : BlockExchange(session, false), call_data_(std::move(call_data)) {
  give(row_for(neighbors));
  if (!are_dense(call_data_.got())) leave_mpi_to_program();
}

// What is given is one for all, or one for each way.
runtime::Buffer NeighborExchange::row_for(const Neighbors& neighbors) const {
  std::vector<std::vector<std::byte>> blocks(static_cast<std::size_t>(size()));
  const auto put = [&](const Way& way, const Piece& piece) {
    std::vector<std::byte> storage;
    append_part(blocks[static_cast<std::size_t>(way.rank)], way.part,
                packed(piece.buffer, piece.layout, storage));
  };
  const auto& ways = call_data_.ways_out();
  for (std::size_t i = 0; i < ways.size(); ++i) put(ways[i], call_data_.given()[i]);
  if (ways.empty() && !call_data_.given().empty())
    for (const int rank : std::set(neighbors.destinations.begin(), neighbors.destinations.end()))
      if (rank != MPI_PROC_NULL) put({rank, 0}, call_data_.given()[0]);
  std::size_t bytes = 0;
  for (const auto& block : blocks) bytes += runtime::block_bytes(block.size());
  runtime::Buffer row(bytes);
  runtime::BlockWriter writer({row.data(), row.size()});
  for (int rank = 0; rank < size(); ++rank)
    writer.put(rank, blocks[static_cast<std::size_t>(rank)]);
  return row;
}

void NeighborExchange::take_from(int rank, std::span<const std::byte> block) {
  runtime::BlockReader parts(block);
  while (const auto part = parts.next()) {
    const auto& ways = call_data_.ways_in();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (ways[i].rank != rank || ways[i].part != part->rank) continue;
      note(take_block(part->data, call_data_.got()[i]));
    }
  }
  if (!parts.is_at_end()) note(MPI_ERR_TRUNCATE);
}

bool NeighborExchange::uses(MPI_Datatype datatype) const {
  return use(call_data_.given(), datatype) || use(call_data_.got(), datatype);
}

}  // namespace resprout::shim
