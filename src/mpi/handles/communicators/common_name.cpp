#include "mpi/handles/communicators/common_name.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// A number that this process proposes for one communicator only, and what all others say.
std::atomic<int> proposed{0};
constexpr int no_proposal = -1;  // every bit: an agreement is the AND of what all say

// The n-th member's number, as all who live get it; no_proposal: it was lost before it said one.
int number_of_member(MPI_Comm made, int n, int rank, int& code) {
  int number = rank == n ? proposed.fetch_add(1) : no_proposal;
  const QuietErrors quiet;
  if (!ulfm::is_active()) {
    code = PMPI_Bcast(&number, 1, MPI_INT, n, made);
    return number;
  }
  code = ulfm::agree(made, &number);
  if (is_loss(code) && !is_revoked(code)) code = MPI_SUCCESS;  // the living agree nevertheless
  return number;
}

std::optional<std::uint64_t> common_name(MPI_Comm made, int rank, int size, int& code) {
  for (int n = 0; n < size; ++n) {
    const int number = number_of_member(made, n, rank, code);
    if (code != MPI_SUCCESS) return std::nullopt;
    if (number == no_proposal) continue;
    std::uint64_t state = static_cast<std::uint64_t>(n) << 32 | static_cast<std::uint32_t>(number);
    return splitmix64(state);
  }
  return std::nullopt;
}

bool is_to_be_opened(MPI_Comm made) {
  const World* world = World::current();
  if (world == nullptr || made == MPI_COMM_NULL) return false;
  if (leaves_collectives_to_library(world->options())) return false;
  const Communicator& communicator = *communicator_of(made);
  return !communicator.is_native && communicator.session == nullptr;
}

void open_as(MPI_Comm made, std::uint64_t name) {
  runtime::Lock lock = World::current()->engine().lock();
  open_communicator(made, name, lock);
}

// How many were made by a tag and of the same processes.
struct Makings {
  runtime::Mutex mutex;
  std::map<std::pair<std::string, std::vector<int>>, std::uint64_t> counts
      RESPROUT_GUARDED_BY(mutex);
};

Makings& makings() {
  static Makings instance;
  return instance;
}

}  // namespace

TaggedMaking::TaggedMaking(MPI_Group group, const char* tag) {
  if (World::current() == nullptr || group == MPI_GROUP_NULL || tag == nullptr) return;
  std::uint64_t state = 0;
  for (const char* at = tag; *at != '\0'; ++at)
    state = splitmix64(state) ^ static_cast<unsigned char>(*at);
  const runtime::MutexLock guard(makings().mutex);
  state = splitmix64(state) ^ ++makings().counts[{tag, world_ranks_of(group)}];
  name_ = splitmix64(state);
}

void TaggedMaking::open(MPI_Comm made) const {
  if (name_ && is_to_be_opened(made)) open_as(made, *name_);
}

int open_by_common_name(MPI_Comm made) {
  if (!is_to_be_opened(made)) return MPI_SUCCESS;
  const Communicator& communicator = *communicator_of(made);
  int code = MPI_SUCCESS;
  const int size = static_cast<int>(communicator.world_ranks.size());
  if (const auto name = common_name(made, communicator.rank, size, code)) open_as(made, *name);
  return code;
}

}  // namespace resprout::shim
