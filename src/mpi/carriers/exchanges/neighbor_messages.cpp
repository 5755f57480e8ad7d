#include "mpi/carriers/exchanges/neighbor_messages.hpp"

#include <algorithm>

#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/request_record.hpp"

namespace resprout::shim {
namespace {

constexpr int neighbor_parts_max = 1 << 16;
constexpr int neighbor_numbers_max = 1 << 14;

int neighbor_tag(int number, int part) {
  const int of_number = number == 0 ? 0 : 1 + (number - 1) % (neighbor_numbers_max - 1);
  return of_number * neighbor_parts_max + std::min(part, neighbor_parts_max - 1);
}

bool refer_to(const std::vector<Piece>& pieces, MPI_Datatype datatype) {
  return std::ranges::any_of(pieces,
                             [&](const Piece& piece) { return piece.layout.datatype == datatype; });
}

}  // namespace

NeighborMessages::NeighborMessages(MPI_Comm comm, const CallData& call_data, int number)
    : comm_(comm), carrier_(communicator_of(comm)->neighbors) {
  for (std::size_t i = 0; i < call_data.ways_in().size(); ++i)
    receive(call_data.got()[i], call_data.ways_in()[i], number);
  for (std::size_t i = 0; i < call_data.ways_out().size(); ++i)
    send(call_data.given()[i], call_data.ways_out()[i], number);
  if (!call_data.ways_out().empty() || call_data.given().empty()) return;
  for (const int rank : neighbors_of(comm).destinations)
    if (rank != MPI_PROC_NULL) send(call_data.given()[0], {rank, 0}, number);
}

void NeighborMessages::receive(const Piece& piece, const Way& way, int number) {
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  // The program has given an int.
  const auto count = static_cast<int>(piece.layout.count);
  note(PMPI_Irecv(piece.buffer, count, piece.layout.datatype, way.rank,
                  neighbor_tag(number, way.part), carrier_, &request));
}

void NeighborMessages::send(const Piece& piece, const Way& way, int number) {
  if (is_out_of_reach(comm_, way.rank)) return note(code_of_loss(comm_));
  const MPI_Datatype datatype = piece.layout.datatype;
  const auto count = static_cast<int>(piece.layout.count);
  const int tag = neighbor_tag(number, way.part);
  // Open MPI 5.0 may end a process whose eager MPI_Isend the receiver does not live to see.
  if (is_sent_at_once(count, datatype))
    return note(PMPI_Send(piece.buffer, count, datatype, way.rank, tag, carrier_));
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  const int code = PMPI_Isend(piece.buffer, count, datatype, way.rank, tag, carrier_, &request);
  note(code);
  if (code == MPI_SUCCESS)
    remember(request, {.comm = comm_,
                       .peer = way.rank,
                       .kind = RequestRecord::Kind::send,
                       .needs_receiver = true});
}

// What is wrong with the arguments matters more than who is lost.
void NeighborMessages::note(int code) {
  if (code != MPI_SUCCESS && (code_ == MPI_SUCCESS || is_loss(code_))) code_ = code;
}

bool NeighborMessages::advance() {
  std::erase_if(requests_, [this](MPI_Request& request) {
    const MPI_Request before = request;
    const auto was = recall(before);
    int is_done = 0;
    const int code = PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    note(code);
    if (is_done == 0 && code == MPI_SUCCESS) return false;
    note_completion(was, before, MPI_REQUEST_NULL);
    return true;
  });
  if (!requests_.empty()) return false;
  if (is_revoked(comm_)) code_ = code_of_loss(comm_);
  return true;
}

bool NeighborMessaging::uses(MPI_Datatype datatype) const {
  return refer_to(call_data_.given(), datatype) || refer_to(call_data_.got(), datatype);
}

}  // namespace resprout::shim
