#include "mpi/operations/communicators/group_pair.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/own_calls.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

// What a leader says of its group first.
struct Greeting {
  int members = 0;
  int has_strangers = 0;
  int leader = 0;  // its world rank
  int number = 0;  // of the pairs that this leader has named
};

struct Told {
  Introduction::End end = Introduction::End::strangers;
  Greeting other;
  int number = 0;  // of this group's own
};

// What a leader and its group say to others.
class Leading {
 public:
  explicit Leading(const GroupPairCall& call)
      : call_(call), mine_(communicator_of(call.local_comm)->world_ranks) {}

  bool is_leader() const { return communicator_of(call_.local_comm)->rank == call_.local_leader; }
  // Of the leader. Whoever is of another job may be without Resprout.
  Told greet(std::vector<int>& theirs) const {
    Told told;
    if (call_.bridge_comm == MPI_COMM_NULL || call_.remote_leader < 0) return told;
    const std::vector<int>& bridge = communicator_of(call_.bridge_comm)->world_ranks;
    const auto place = static_cast<std::size_t>(call_.remote_leader);
    if (place >= bridge.size() || bridge[place] == MPI_UNDEFINED) return told;
    static std::atomic<int> named{0};
    const Greeting greeting{size(), std::ranges::count(mine_, MPI_UNDEFINED) != 0 ? 1 : 0,
                            World::current()->rank(), named.fetch_add(1)};
    told.number = greeting.number;
    told.end = Introduction::End::broken;
    constexpr int ints = sizeof greeting / sizeof(int);
    if (!exchange(&greeting, &told.other, ints, ints) || told.other.members < 1) return told;
    theirs.resize(static_cast<std::size_t>(told.other.members));
    if (!exchange(mine_.data(), theirs.data(), size(), told.other.members)) return told;
    const bool has_strangers = greeting.has_strangers != 0 || told.other.has_strangers != 0;
    told.end = has_strangers ? Introduction::End::strangers : Introduction::End::known;
    return told;
  }
  // Of the leader, when all of its group who live have heard: the other one says the same.
  bool have_both_heard(bool has_mine) const {
    const int mine = has_mine ? 1 : 0;
    int theirs = 0;
    return exchange(&mine, &theirs, 1, 1) && has_mine && theirs != 0;
  }
  bool wait_for_own() const { return MPI_Barrier(call_.local_comm) == MPI_SUCCESS; }
  // Of all. False: a loss has broken it off.
  bool hear(void* what, int ints) const {
    return MPI_Bcast(what, ints, MPI_INT, call_.local_leader, call_.local_comm) == MPI_SUCCESS;
  }
  std::uint64_t name_of(const BothGroups& groups, const Told& told) const {
    const int leader = groups.is_own_first() ? mine_[static_cast<std::size_t>(call_.local_leader)]
                                             : told.other.leader;
    const int number = groups.is_own_first() ? told.number : told.other.number;
    std::uint64_t state =
        for_pairs ^ static_cast<std::uint64_t>(leader) << 32 ^ static_cast<std::uint32_t>(number);
    return splitmix64(state);
  }

 private:
  // Tells the sessions over two groups from those that have other names.
  static constexpr std::uint64_t for_pairs = std::uint64_t{0x70616972} << 32;

  int size() const { return static_cast<int>(mine_.size()); }
  bool exchange(const void* mine, void* others, int mine_count, int others_count) const {
    return MPI_Sendrecv(mine, mine_count, MPI_INT, call_.remote_leader, call_.tag, others,
                        others_count, MPI_INT, call_.remote_leader, call_.tag, call_.bridge_comm,
                        MPI_STATUS_IGNORE) == MPI_SUCCESS;
  }

  const GroupPairCall& call_;
  const std::vector<int>& mine_;
};

bool do_overlap(const BothGroups& groups) {
  return std::ranges::find_first_of(groups.own, groups.other) != groups.own.end();
}

// Whoever waits there does not any more.
void revoke_session_of(const GroupPair& pair) {
  runtime::Engine& engine = World::current()->engine();
  runtime::Lock lock = engine.lock();
  runtime::Session& session = engine.open_session(lock, pair.name, pair.groups.all());
  session.revoke();
  engine.close_session(lock, session);
}

}  // namespace

Introduction introduce(const GroupPairCall& call) {
  const OwnCalls own;
  const QuietLosses quiet;
  const Leading leading(call);
  Introduction introduction;
  std::vector<int> theirs;
  Told told;
  if (leading.is_leader()) told = leading.greet(theirs);
  introduction.end = Introduction::End::broken;
  if (!leading.hear(&told, sizeof told / sizeof(int))) return introduction;
  introduction.end = told.end;
  if (told.end != Introduction::End::known) return introduction;
  introduction.end = Introduction::End::broken;
  theirs.resize(static_cast<std::size_t>(told.other.members));
  if (!leading.hear(theirs.data(), told.other.members)) return introduction;
  GroupPair& pair = introduction.pair;
  pair.groups = {communicator_of(call.local_comm)->world_ranks, std::move(theirs)};
  if (do_overlap(pair.groups)) return {Introduction::End::overlapping, {}};
  pair.name = leading.name_of(pair.groups, told);
  const bool has_own = leading.wait_for_own();
  int have_both = leading.is_leader() && leading.have_both_heard(has_own) ? 1 : 0;
  if (leading.hear(&have_both, 1) && have_both != 0)
    introduction.end = Introduction::End::known;
  else
    revoke_session_of(pair);
  return introduction;
}

}  // namespace resprout::shim
