#include "mpi/handles/communicators/drain.hpp"

#include <algorithm>
#include <utility>

#include "mpi/handles/communicators/unwanted.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

// Behind everything else that this process has sent.
constexpr int last_tag = last_tag_of_drain;

// MPI may still write to these. Never destroyed.
std::vector<std::vector<std::byte>>& kept() {
  static auto* instance = new std::vector<std::vector<std::byte>>;
  return *instance;
}

}  // namespace

Drain::Drain(MPI_Comm comm, const runtime::Session& session) : comm_(comm) {
  for (int i = 0; i < session.members().size(); ++i) {
    const int rank = session.members().world_rank(rank_at(i));
    if (rank != World::current()->rank()) peers_.push_back(rank);
  }
}

std::optional<bool> Drain::advance() {
  const QuietLosses quiet;
  if (!has_begun_) begin();
  has_begun_ = true;
  const std::optional<bool> are_there = are_all_there();
  return are_there == true ? receive_all() : are_there;
}

bool Drain::run() {
  Patience patience;
  for (;;) {
    if (const std::optional<bool> is_clean = advance()) return *is_clean;
    patience.pause();
  }
}

void Drain::begin() {
  ulfm::acknowledge(comm_);
  requests_.assign(peers_.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < peers_.size(); ++i)
    PMPI_Irecv(nullptr, 0, MPI_BYTE, peers_[i], last_tag, comm_, &requests_[i]);
  for (const int peer : peers_)
    if (!World::current()->is_lost(peer)) PMPI_Send(nullptr, 0, MPI_BYTE, peer, last_tag, comm_);
}

bool Drain::has_lost_peer() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](int rank) { return World::current()->is_lost(rank); });
}

std::optional<bool> Drain::are_all_there() {
  for (MPI_Request& request : requests_) {
    int is_done = 0;
    if (PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_done != 0) continue;
    return has_lost_peer() ? std::optional(false) : std::nullopt;
  }
  return true;
}

// MPI may hear of losses after this process, and after they were acknowledged: once of each.
bool Drain::probe(int& is_there, MPI_Message& message, MPI_Status& status) const {
  int losses = 0;
  PMPI_Comm_size(comm_, &losses);
  for (; losses > 0; --losses) {
    const int code = PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, &message, &status);
    if (code == MPI_SUCCESS) return true;
    if (!is_loss(code) || is_revoked(code) || has_lost_peer()) return false;
    ulfm::acknowledge(comm_);
  }
  return false;
}

bool Drain::receive_all() {
  for (;;) {
    int is_there = 0;
    MPI_Count bytes = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (!probe(is_there, message, status)) return false;
    if (is_there == 0) return true;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    receive_bytes(buffer.data(), bytes, message, request);
    if (!complete(request)) {
      kept().push_back(std::move(buffer));
      return false;
    }
  }
}

bool Drain::complete(MPI_Request& request) {
  Patience patience;
  for (;;) {
    int is_done = 0;
    if (PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_done != 0) return true;
    if (has_lost_peer()) return false;
    patience.pause();
  }
}

}  // namespace resprout::shim
