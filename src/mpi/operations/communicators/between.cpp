#include "mpi/operations/communicators/between.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/carriers/anybody.hpp"
#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/attributes.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/handles/openmpi/creation_communicator.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/operations/communicators/native_twin.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

MPI_Group group_of_world_ranks(const std::vector<int>& ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  PMPI_Group_free(&world);
  return group;
}

int rank_in(MPI_Comm comm, int world_rank) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int rank = MPI_UNDEFINED;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(world, 1, &world_rank, group, &rank);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return rank;
}

// `living`: a communicator of the library's own of all who live.
int make_of_living(MPI_Comm living, const BothGroups& among, MPI_Comm* made) {
  const auto self = std::ranges::find(among.own, World::current()->rank());
  MPI_Comm half = MPI_COMM_NULL;
  int code = PMPI_Comm_split(living, among.is_own_first() ? 0 : 1,
                             static_cast<int>(self - among.own.begin()), &half);
  if (code != MPI_SUCCESS) return code;
  constexpr int tag = 0;
  code = PMPI_Intercomm_create(half, 0, living, rank_in(living, among.other.front()), tag, made);
  PMPI_Comm_free(&half);
  return code;
}

// A call of the library's that makes one, without the engine's lock; nobody else calls it then. All
// members of the session hear how it has ended for any of them.
class Agreed {
 public:
  enum class End { well, out_of_numbers, broken };

  Agreed(runtime::Session& session, runtime::Lock& lock) : session_(session), lock_(lock) {}

  End make(const std::function<int()>& native) {
    lock_.unlock();
    {
      const QuietMaking quiet;
      code_ = native();
    }
    const std::byte here = end_of_making(code_);
    lock_.lock();
    const std::byte ended = what_anybody_says(session_, lock_, here);
    if ((ended & making_ran_out) != std::byte{0}) return End::out_of_numbers;
    if (ended == std::byte{0} && !session_.is_revoked()) return End::well;
    note_broken_making();
    return End::broken;
  }
  // Of the last one.
  int code() const { return code_; }

 private:
  runtime::Session& session_;
  runtime::Lock& lock_;
  int code_ = MPI_SUCCESS;
};

// One that makes an inter-communicator.
class Making {
 public:
  // `session`: whose members say what, in the order of `groups`.
  Making(MPI_Comm like, const char* call, runtime::Session& session, const BothGroups& groups)
      : like_(like),
        call_(call),
        session_(session),
        groups_(groups),
        lock_(World::current()->engine().lock()),
        roll_(session, sizeof(Side)) {}

  // With those of the same color. Members that are lost by then end it, unless they are left out.
  enum class Lost { end_it, are_left_out };
  int run(const Side& side, Lost lost, MPI_Comm* made);

 private:
  Side side_of(std::size_t place) const {
    Side side;
    std::memcpy(&side, roll_.of(static_cast<int>(place)).data(), sizeof side);
    return side;
  }
  std::vector<int> chosen(const std::vector<int>& ranks, std::size_t first, int color) const;
  BothGroups chosen(const Side& side) const;
  int join(MPI_Comm parent, const std::optional<BothGroups>& among, std::uint64_t name,
           MPI_Comm* made);
  int make_anew(const BothGroups& among, MPI_Comm* made);
  int finish(int code) {
    lock_.unlock();
    return shim::finish(like_, call_, code);
  }
  // By the program; or, of two groups that are new to each other, by who was not sure that all go
  // on (group_pair.hpp).
  int finish_revoked() {
    return finish(has_both_groups(like_) ? ulfm::revoked_class() : proc_failed());
  }

  const MPI_Comm like_;
  const char* const call_;
  runtime::Session& session_;
  const BothGroups& groups_;
  runtime::Lock lock_;
  RollCall roll_;
};

// Of one group: who is for that one and lives, in the order of their keys. `first`: the place of
// its first member among all.
std::vector<int> Making::chosen(const std::vector<int>& ranks, std::size_t first, int color) const {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const bool is_left = session_.members().index_of_world_rank(ranks[place]) != no_rank;
    const Side side = side_of(first + place);
    if (is_left && side.is_in_any != 0 && side.color == color) places.push_back(place);
  }
  std::ranges::stable_sort(places, {},
                           [&](std::size_t place) { return side_of(first + place).key; });
  std::vector<int> chosen;
  for (const std::size_t place : places) chosen.push_back(ranks[place]);
  return chosen;
}

BothGroups Making::chosen(const Side& side) const {
  const std::size_t second = groups_.first_size();
  const bool is_own_first = groups_.is_own_first();
  return {chosen(groups_.own, is_own_first ? 0 : second, side.color),
          chosen(groups_.other, is_own_first ? second : 0, side.color)};
}

// Of pieces. When `parent` is revoked, this ends. `among`: nothing: this process is in none, but
// hears how it ends. REQUIRES: nobody in the world was lost, as all have agreed.
int Making::join(MPI_Comm parent, const std::optional<BothGroups>& among, std::uint64_t name,
                 MPI_Comm* made) {
  Agreed agreed(session_, lock_);
  MPI_Comm half = MPI_COMM_NULL;
  Agreed::End end = agreed.make([&]() -> int {
    if (!among) return MPI_SUCCESS;
    MPI_Group own = group_of_world_ranks(among->own);
    const int code = create_in_creation_communicator(parent, own, name, &half);
    PMPI_Group_free(&own);
    return code;
  });
  if (end == Agreed::End::well)
    end = agreed.make([&] {
      return among ? join_in_creation_communicator(parent, half, among->other.front(), name, made)
                   : MPI_SUCCESS;
    });
  if (end == Agreed::End::well) return MPI_SUCCESS;
  *made = MPI_COMM_NULL;
  return end == Agreed::End::broken ? proc_failed() : code_without_numbers(like_, agreed.code());
}

// On communicators that the library makes anew of all who live.
int Making::make_anew(const BothGroups& among, MPI_Comm* made) {
  Agreed agreed(session_, lock_);
  const Agreed::End end = agreed.make([&] {
    MPI_Comm living = communicator_of_living(among.own.size() + among.other.size());
    if (living == MPI_COMM_NULL) return proc_failed();
    const int code = make_of_living(living, among, made);
    PMPI_Comm_free(&living);
    return code;
  });
  if (end == Agreed::End::well) return MPI_SUCCESS;
  *made = MPI_COMM_NULL;
  return proc_failed();
}

int Making::run(const Side& side, Lost lost, MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  const auto bytes = std::as_bytes(std::span(&side, 1));
  std::ranges::copy(bytes, roll_.mine().begin());
  roll_.say(lock_);
  if (session_.is_revoked()) return finish_revoked();
  if (lost == Lost::end_it && !session_.is_whole()) return finish(proc_failed());
  BothGroups among = chosen(side);
  const bool is_in_one = side.is_in_any != 0 && !among.own.empty() && !among.other.empty();
  const std::uint64_t name = session_.next_child();
  int code = MPI_SUCCESS;
  if (session_.is_whole() && roll_.is_peaceful()) {
    const MPI_Comm parent = lost == Lost::end_it ? like_ : MPI_COMM_SELF;
    code = join(parent, is_in_one ? std::optional(among) : std::nullopt, name, made);
  } else {
    const bool is_for_all = is_in_one && among.own.size() + among.other.size() ==
                                             static_cast<std::size_t>(session_.members().size());
    const bool is_possible = ulfm::is_active() && is_for_all && are_all_who_live(among.all());
    if (does_anybody_say(session_, lock_, !is_possible)) {
      lock_.unlock();
      return refuse_between(like_, call_);
    }
    code = make_anew(among, made);
  }
  if (session_.is_revoked()) return finish_revoked();
  if (code != MPI_SUCCESS) return finish(code);
  if (is_in_one) {
    copy_error_handler(like_, *made);
    join_both_groups(*made, World::current()->engine().open_session(lock_, name, among.all()));
  }
  lock_.unlock();
  return MPI_SUCCESS;
}

}  // namespace

int make_between(MPI_Comm like, const char* call, runtime::Session& session,
                 const BothGroups& groups, const Side& side, MPI_Comm* made) {
  return Making(like, call, session, groups).run(side, Making::Lost::end_it, made);
}

namespace {

int make_of(MPI_Comm inter, const char* call, const Side& side, MPI_Comm* made) {
  count_call(*World::current(), call);
  return make_between(inter, call, session_of_both(inter), both_groups_of(inter), side, made);
}

}  // namespace

int duplicate_between(MPI_Comm inter, const char* call, MPI_Comm* made) {
  const int code = make_of(inter, call, {.key = communicator_of(inter)->rank}, made);
  return code == MPI_SUCCESS ? copy_attributes(inter, *made) : code;
}

int split_between(MPI_Comm inter, int color, int key, MPI_Comm* made) {
  return make_of(inter, "comm_split", {color == MPI_UNDEFINED ? 0 : 1, color, key}, made);
}

int create_between(MPI_Comm inter, MPI_Group group, MPI_Comm* made) {
  int rank = MPI_UNDEFINED;
  PMPI_Group_rank(group, &rank);
  return make_of(inter, "comm_create", {rank == MPI_UNDEFINED ? 0 : 1, 0, rank}, made);
}

int shrink_between(MPI_Comm inter, MPI_Comm* made) {
  runtime::Lock lock = World::current()->engine().lock();
  runtime::Session& repair = *repair_session_of(inter, lock);
  repair.finish_tasks(lock);
  lock.unlock();
  const Side side{.key = communicator_of(inter)->rank};
  return Making(inter, "comm_shrink", repair, both_groups_of(inter))
      .run(side, Making::Lost::are_left_out, made);
}

namespace {

// What a member says of its group; nothing: it is lost.
constexpr std::byte is_high{2};
constexpr std::byte is_low{1};

std::byte said_in(const RollCall& roll, std::size_t first, std::size_t last) {
  for (std::size_t place = first; place < last; ++place)
    if (roll.of(static_cast<int>(place))[0] != std::byte{0})
      return roll.of(static_cast<int>(place))[0];
  return std::byte{0};
}

// The ranks of the world in the merged one's order.
std::vector<int> merged_order(const RollCall& roll, const BothGroups& groups) {
  std::vector<int> ranks = groups.all();
  const std::size_t second = groups.first_size();
  const bool is_first_high = said_in(roll, 0, second) == is_high;
  const bool is_second_low = said_in(roll, second, ranks.size()) != is_high;
  if (is_first_high && is_second_low)
    std::ranges::rotate(ranks, ranks.begin() + static_cast<std::ptrdiff_t>(second));
  return ranks;
}

}  // namespace

int merge_between(MPI_Comm inter, int high, MPI_Comm* made) {
  constexpr const char* call = "intercomm_merge";
  const World& world = *World::current();
  runtime::Session& session = session_of_both(inter);
  const BothGroups groups = both_groups_of(inter);
  runtime::Lock lock = World::current()->engine().lock();
  *made = MPI_COMM_NULL;
  RollCall roll(session, 1);
  roll.mine()[0] = high != 0 ? is_high : is_low;
  roll.say(lock);
  const auto end = [&](int code) {
    lock.unlock();
    return finish(inter, call, code);
  };
  if (session.is_revoked()) return end(ulfm::revoked_class());
  std::vector<int> order = merged_order(roll, groups);
  const std::uint64_t name = session.next_child();
  if (session.is_whole() && roll.is_peaceful()) {
    Agreed agreed(session, lock);
    const Agreed::End how = agreed.make([&] {
      MPI_Group group = group_of_world_ranks(order);
      const int code = create_in_creation_communicator(inter, group, name, made);
      PMPI_Group_free(&group);
      return code;
    });
    if (how == Agreed::End::well) open_communicator(*made, name, lock);
    if (how == Agreed::End::well) return end(MPI_SUCCESS);
    *made = MPI_COMM_NULL;
    if (session.is_revoked()) return end(ulfm::revoked_class());
    if (how == Agreed::End::out_of_numbers) return end(code_without_numbers(inter, agreed.code()));
  }
  if (world.options().on_loss == OnLoss::error && !session.is_whole()) return end(proc_failed());
  roll.find_carrier(lock);
  if (session.is_revoked()) return end(ulfm::revoked_class());
  return end(make_derived(std::move(order), roll, name, inter, made, lock));
}

}  // namespace resprout::shim
