// Random programs of collectives of some communicators, and who dies when in them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "runtime/testing/fiber_job.hpp"
#include "runtime/testing/part.hpp"

namespace resprout::runtime::testing {

enum class Kind : std::uint8_t {
  allreduce,
  slices,
  agree,
  barrier,
  reduce,
  gather,
  allgather,
  broadcast,
  native_allreduce,  // from here on: of a library below, until a loss
  native_broadcast,
  native_gather,
  native_scan,
  native_allgather,  // on which all vote, as on the next
  voted_broadcast,
};
inline constexpr std::array<const char*, 14> kind_names{
    "allreduce",        "slices",           "agree",         "barrier",
    "reduce",           "gather",           "allgather",     "broadcast",
    "native allreduce", "native broadcast", "native gather", "native scan",
    "native allgather", "voted broadcast"};

struct Step {
  Kind kind;
  int root;  // a rank of the communicator
  bool is_star;
  bool is_started;  // and not waited for before a step that is not
  bool is_ordered;  // by an operator that does not commute
  std::size_t bytes;

  std::string name() const {
    return (is_started ? "started " : "") + std::string(is_ordered ? "ordered " : "") +
           std::string(kind_names[static_cast<std::size_t>(kind)]);
  }

  bool has_result_at_root_only() const { return kind == Kind::reduce || is_gather(); }
  bool is_gather() const { return kind == Kind::gather || kind == Kind::native_gather; }
  bool has_row() const {
    return is_gather() || kind == Kind::allgather || kind == Kind::native_allgather;
  }
  bool is_scan() const { return kind == Kind::native_scan; }
  bool is_broadcast() const {
    return kind == Kind::broadcast || kind == Kind::native_broadcast ||
           kind == Kind::voted_broadcast;
  }
  bool is_broadcast_awaited() const { return is_broadcast() && !is_started; }
  bool is_native() const { return kind >= Kind::native_allreduce; }
  // A reduce begins at its root.
  bool can_be_ordered() const {
    return kind == Kind::allreduce || kind == Kind::agree || kind == Kind::native_allreduce ||
           (kind == Kind::reduce && root == 0);
  }
  bool can_be_started() const { return !is_native() && kind != Kind::slices; }
};

// Who is in it, in its order, and before which steps its members open and close it. All are opened
// and closed in the order in which they stand in the story.
struct Communicator {
  std::vector<int> ranks;
  std::size_t opens_before = 0;
  std::size_t closes_before = 0;  // after a barrier

  int size() const { return static_cast<int>(ranks.size()); }
  bool has(int rank) const { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); }
  bool is_open_at(std::size_t step) const { return opens_before <= step && step < closes_before; }
};

// Who revokes which communicator, and before which step; it has it open then.
struct Revocation {
  std::size_t communicator;
  int rank;
  std::size_t before;
};

// Who dies, if it does, when it has sent so many frames from before this step on.
struct Doom {
  int rank;
  std::size_t before;
  int sends;
};

struct Story {
  int ranks;
  Hosts hosts;
  std::vector<Communicator> communicators;  // the first one is everybody's, and is never closed
  std::vector<std::size_t> places;          // of each step: in which one
  std::vector<Step> program;
  std::vector<Step> otherwise;  // the same steps where the broadcast before them has failed
  std::vector<Revocation> revocations;
  std::vector<Doom> dooms;
  std::vector<Fate> fates;

  explicit Story(std::uint64_t seed) {
    Random random(seed ^ 0x5e5510);
    is_long_ = random.below(400) == 0;
    bytes_max_ = is_long_                 ? sizeof(Part)
                 : random.below(150) == 0 ? large_bytes
                 : random.below(10) == 0  ? 2 * corrected_bytes_max
                                          : sizeof(Part);
    ranks = number_of_ranks(random);
    hosts.ranks_each = std::array{1, 1, 1, ranks, ranks, ranks, 2, 3}[random.below(8)];
    const bool has_native = random.below(2) == 0;
    const bool has_started = random.below(2) == 0;
    const std::size_t count = is_long_ ? unsynchronized_max + random.below(100)  // a barrier is due
                                       : 1 + random.below(8);
    make_communicators(random, count);
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(place(random, i));
      for (std::vector<Step>* path : {&program, &otherwise})
        path->push_back(step(random, has_native, has_started));
    }
    make_revocations(random);
    make_fates(random);
  }

  std::size_t steps() const { return program.size(); }
  const Step& what(std::size_t step, bool is_otherwise) const {
    return (is_otherwise ? otherwise : program)[step];
  }
  const Communicator& communicator_of(std::size_t step) const {
    return communicators[places[step]];
  }

 private:
  static constexpr std::uint64_t communicators_max = 4;

  int number_of_ranks(Random& random) const {
    if (is_long_ || bytes_max_ >= large_bytes) return static_cast<int>(2 + random.below(3));
    return static_cast<int>(random.below(24) == 0 ? 8 + random.below(4) : 2 + random.below(6));
  }

  void make_communicators(Random& random, std::uint64_t steps) {
    Communicator everybody;
    everybody.ranks.resize(static_cast<std::size_t>(ranks));
    std::iota(everybody.ranks.begin(), everybody.ranks.end(), 0);
    everybody.closes_before = steps + 1;
    communicators.push_back(everybody);
    if (random.below(2) == 0) return;
    const std::uint64_t count = 2 + random.below(communicators_max - 1);
    while (communicators.size() < count) {
      Communicator one;
      one.ranks = random.below(3) == 0
                      ? communicators[random.below(communicators.size())].ranks  // once more
                      : some_ranks(random);
      one.opens_before = random.below(steps);
      one.closes_before = steps + 1;
      if (random.below(2) == 0)
        one.closes_before = one.opens_before + 1 + random.below(steps - one.opens_before);
      communicators.push_back(one);
    }
  }

  void make_revocations(Random& random) {
    if (random.below(3) != 0) return;
    hosts.have_boards = hosts.ranks_each > 1 && random.below(2) == 0;
    for (std::uint64_t count = 1 + random.below(2); count > 0; --count) {
      const std::size_t place = random.below(communicators.size());
      const Communicator& one = communicators[place];
      const std::size_t last = std::min(one.closes_before, steps() + 1);
      const int rank = one.ranks[random.below(one.ranks.size())];
      const std::size_t before = one.opens_before + random.below(last - one.opens_before);
      revocations.push_back({place, rank, before});
      if (random.below(6) != 0) dooms.push_back({rank, before, static_cast<int>(random.below(5))});
    }
  }

  std::vector<int> some_ranks(Random& random) const {
    std::vector<int> rest = communicators.front().ranks;
    std::vector<int> some;
    for (std::uint64_t count = 1 + random.below(ranks); count > 0; --count) {
      const auto it = rest.begin() + static_cast<std::ptrdiff_t>(random.below(rest.size()));
      some.push_back(*it);
      rest.erase(it);
    }
    if (random.below(2) == 0) std::sort(some.begin(), some.end());
    return some;
  }

  std::size_t place(Random& random, std::size_t step) const {
    if (is_long_ && random.below(20) != 0) return 0;
    for (;;) {
      const std::size_t place = random.below(communicators.size());
      if (communicators[place].is_open_at(step)) return place;
    }
  }

  // In a long one mostly what does not synchronize, in one with much data often a broadcast: its
  // root returns before others have it.
  Kind kind(Random& random, bool may_be_native) const {
    constexpr std::array ours{Kind::broadcast, Kind::broadcast, Kind::reduce, Kind::gather};
    constexpr auto of_messages = static_cast<std::size_t>(Kind::native_allreduce);
    if (bytes_max_ >= large_bytes && random.below(2) == 0) return Kind::broadcast;
    if (!is_long_ || random.below(1000) == 0)
      return static_cast<Kind>(random.below(may_be_native ? kind_names.size() : of_messages));
    constexpr std::array natives{Kind::native_broadcast, Kind::native_gather, Kind::native_scan};
    return may_be_native && random.below(4) == 0 ? natives[random.below(3)] : ours[random.below(4)];
  }

  // Sizes from which something else is done.
  std::size_t bytes(Random& random) const {
    constexpr std::array<std::size_t, 6> sizes{
        sizeof(Part), 1000, 2 * corrected_bytes_max, 300000, large_bytes - 1, large_bytes};
    for (;;)
      if (const std::size_t size = sizes[random.below(sizes.size())]; size <= bytes_max_)
        return size;
  }

  // REQUIRES: its place is known.
  Step step(Random& random, bool may_be_native, bool may_be_started) const {
    const int procs = communicators[places.back()].size();
    Step step{kind(random, may_be_native),
              static_cast<int>(random.below(procs)),
              random.below(2) == 0,
              false,
              false,
              bytes(random)};
    step.is_ordered = step.can_be_ordered() && random.below(2) == 0;
    step.is_started = may_be_started && step.can_be_started() && random.below(2) == 0;
    return step;
  }

  void make_fates(Random& random) {
    const std::uint64_t deaths = 1 + random.below(std::min(ranks - 1, 3));
    std::set<int> victims;
    for (const Revocation& revocation : revocations)
      if (victims.size() < deaths && random.below(2) == 0) victims.insert(revocation.rank);
    while (victims.size() < deaths) victims.insert(static_cast<int>(random.below(ranks)));
    fates.resize(static_cast<std::size_t>(ranks));
    for (const int victim : victims) {
      fates[static_cast<std::size_t>(victim)] = fate(random);
      if (is_long_ && random.below(2) == 0)  // about when the barrier is due
        dooms.push_back({victim, unsynchronized_max - 4 + random.below(8), 0});
    }
  }

  Fate fate(Random& random) const {
    Fate fate;
    fate.sends = static_cast<int>(random.below(3 * steps()));
    if (random.below(2) == 0) fate.dies_after = random.below(60);
    const std::uint64_t spread = 1 + random.below(80);
    for (int rank = 0; rank < ranks; ++rank)
      fate.known_after.push_back(random.below(spread) +
                                 (random.below(2) == 0 ? fate.dies_after : 0));
    return fate;
  }

  bool is_long_;
  std::size_t bytes_max_;
};

}  // namespace resprout::runtime::testing
