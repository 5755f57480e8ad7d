#include "shim/remade/spares.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/errors.hpp"
#include "shim/native/making.hpp"
#include "shim/ulfm.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

struct Spare {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm handle = MPI_COMM_NULL;
  bool is_in_use = true;
  bool is_broken = false;    // what MPI was asked for a drain is still pending
  std::vector<int> left_by;  // world ranks, ascending: whose messages may be left in it
};

struct Spares {
  std::mutex mutex;
  std::array<Spare, spares_max> all;

  Spare& operator[](int number) { return all[static_cast<std::size_t>(number)]; }
};

Spares& spares() {
  static Spares instance;
  return instance;
}

std::atomic<bool> is_making_broken = false;

// Who is not in the session, and lives, may still send something.
bool may_be_drained_by(const runtime::Session& session, const Spare& spare) {
  return std::all_of(spare.left_by.begin(), spare.left_by.end(), [&](int rank) {
    return session.everybody().index_of_world_rank(rank) != no_rank ||
           World::current()->is_lost(rank);
  });
}

// Behind everything else that this process has sent.
constexpr int last_tag = 0x7ffffffe;

class Drain {
 public:
  Drain(MPI_Comm comm, const runtime::Session& session) : comm_(comm) {
    for (int i = 0; i < session.members().size(); ++i) {
      const int rank = session.members().world_rank(rank_at(i));
      if (rank != World::current()->rank()) peers_.push_back(rank);
    }
  }

  bool run() {
    ulfm::acknowledge(comm_);
    std::vector<MPI_Request> requests(peers_.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < peers_.size(); ++i)
      PMPI_Irecv(nullptr, 0, MPI_BYTE, peers_[i], last_tag, comm_, &requests[i]);
    for (const int peer : peers_)
      if (!World::current()->is_lost(peer)) PMPI_Send(nullptr, 0, MPI_BYTE, peer, last_tag, comm_);
    return std::all_of(requests.begin(), requests.end(),
                       [&](MPI_Request& request) { return complete(request); }) &&
           receive_all();
  }

 private:
  bool has_lost_peer() const {
    return std::any_of(peers_.begin(), peers_.end(),
                       [](int rank) { return World::current()->is_lost(rank); });
  }

  bool complete(MPI_Request& request) {
    Patience patience;
    for (;;) {
      int is_done = 0;
      if (PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
      if (is_done != 0) return true;
      if (has_lost_peer()) return false;
      patience.pause();
    }
  }

  bool receive_all() {
    for (;;) {
      int is_there = 0;
      int bytes = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      if (PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, &message, &status) !=
          MPI_SUCCESS)
        return false;
      if (is_there == 0) return true;
      PMPI_Get_count(&status, MPI_BYTE, &bytes);
      std::vector<char> buffer(static_cast<std::size_t>(bytes));
      MPI_Request request = MPI_REQUEST_NULL;
      PMPI_Imrecv(buffer.data(), bytes, MPI_BYTE, &message, &request);
      if (!complete(request)) {
        kept.push_back(std::move(buffer));  // MPI may still write to it
        return false;
      }
    }
  }

  MPI_Comm comm_;
  std::vector<int> peers_;
  static inline std::vector<std::vector<char>> kept;
};

}  // namespace

void open_spares() {
  if (!ulfm::is_active()) return;  // nobody survives a loss
  for (Spare& spare : spares().all) {
    PMPI_Comm_dup(MPI_COMM_WORLD, &spare.comm);
    note_made(spare.comm);
    hand_on_errors(spare.comm);
    PMPI_Comm_dup(MPI_COMM_SELF, &spare.handle);
    spare.is_in_use = false;
  }
}

void close_spares() {
  const std::lock_guard guard(spares().mutex);
  for (Spare& spare : spares().all) spare.is_in_use = true;
}

MPI_Comm carrier(int spare) { return spares()[spare].comm; }

MPI_Comm handle_of(int spare) { return spares()[spare].handle; }

bool has_met_loss(int code) {
  return is_loss(code) || code == MPI_ERR_INTERN ||
         (code != MPI_SUCCESS && World::current()->lost_count() != 0);
}

void note_broken_making() { is_making_broken = true; }

bool may_mpi_make_any() { return !is_making_broken && World::current()->lost_count() == 0; }

SpareWords spares_for(const runtime::Session& session) {
  const std::lock_guard guard(spares().mutex);
  SpareWords words;
  for (int i = 0; i < spares_max; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const Spare& spare = spares()[i];
    if (spare.is_in_use || !may_be_drained_by(session, spare)) words.unusable |= bit;
    if (!spare.left_by.empty()) words.unclean |= bit;
  }
  return words;
}

int choose_spare(const SpareWords& all) {
  const int clean = std::countr_one(all.unusable | all.unclean);
  if (clean < spares_max) return clean;
  const int usable = std::countr_one(all.unusable);
  return usable < spares_max ? usable : -1;
}

bool reserve_spare(int spare) {
  const std::lock_guard guard(spares().mutex);
  return !std::exchange(spares()[spare].is_in_use, true);
}

void give_back_spare(int spare) {
  const std::lock_guard guard(spares().mutex);
  if (!spares()[spare].is_broken) spares()[spare].is_in_use = false;
}

void leave_spare(int number, const std::vector<int>& world_ranks, Leaving how) {
  const std::lock_guard guard(spares().mutex);
  Spare& spare = spares()[number];
  if (how == Leaving::broken) spare.is_broken = true;
  if (!spare.is_broken) spare.is_in_use = false;
  if (how != Leaving::unclean) return;
  spare.left_by.insert(spare.left_by.end(), world_ranks.begin(), world_ranks.end());
  std::sort(spare.left_by.begin(), spare.left_by.end());
  spare.left_by.erase(std::unique(spare.left_by.begin(), spare.left_by.end()), spare.left_by.end());
}

bool drain(int number, const runtime::Session& session) {
  const QuietLosses quiet;
  const bool is_clean = Drain(carrier(number), session).run();
  const std::lock_guard guard(spares().mutex);
  if (is_clean)
    spares()[number].left_by.clear();
  else
    spares()[number].is_broken = true;
  return is_clean;
}

}  // namespace resprout::shim
