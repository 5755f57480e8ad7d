// All interleavings of members that come to shared slots, go, and use their entries for other
// names.
#include "protocols/shared_slots/claim.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using Step = SlotClaim::Step;

constexpr int members_max = 4;

// One of each member, for one name at a time; the names are 1, 2, ..., in the same order for all.
struct Entry {
  int name = 0;
  int use = 0;
  bool is_over = false;
  std::array<int, members_max> marks{};
};

struct Member {
  int name = 0;  // that it is at, or through with
  SlotClaim claim{1, Rank{0}};
  int found = 0;
  bool has_ended = false;

  bool has_gone(int of) const { return name > of || (name == of && claim.step() > Step::say_over); }
};

struct Job {
  int members;
  int names;
  int deaths = 0;
  bool are_marks_of_a_use = true;
};

struct State {
  std::array<Member, members_max> members;
  std::array<Entry, members_max> entries;
  int deaths = 0;
};

class World {
 public:
  explicit World(const Job& job) : job_(job) {}

  // What is wrong, empty if nothing: whatever the members do, and in whatever order.
  std::string explore() {
    std::vector<State> next(1);
    for (int i = 0; i < job_.members; ++i) begin_next(next[0], i);
    seen_.insert(digest(next[0]));
    while (!next.empty() && wrong_.empty()) {
      const State state = next.back();
      next.pop_back();
      bool is_end = true;
      for (int i = 0; i < job_.members; ++i)
        for (const auto& act : {&World::step, &World::free, &World::die}) {
          State after = state;
          if (!(this->*act)(after, i)) continue;
          is_end = is_end && act == &World::die;
          if (seen_.insert(digest(after)).second) next.push_back(after);
        }
      if (is_end) check_end(state);
    }
    return wrong_;
  }
  std::size_t states() const { return seen_.size(); }

 private:
  // Members have other places under other names, so that a mark means somebody else there.
  int place(int name, int member) const { return (member + name) % job_.members; }
  int member_at(int name, Rank place) const {
    return (index(place) + job_.members * name - name) % job_.members;
  }

  void begin_next(State& state, int i) const {
    Member& member = state.members[i];
    ++member.name;
    if (member.name <= job_.names)
      member.claim = SlotClaim(job_.members, rank_at(place(member.name, i)));
  }

  bool step(State& state, int i) {
    Member& member = state.members[i];
    Entry& own = state.entries[i];
    if (member.has_ended || member.name > job_.names) return false;
    const Step at = member.claim.step();
    if (at == Step::none) {
      member.claim.go();
      return true;
    }
    if (at == Step::done) {
      begin_next(state, i);
      return true;
    }
    if (at == Step::enter && own.name != 0) return false;
    const int self = place(member.name, i);
    const int other = index(member.claim.other());
    Entry& theirs = state.entries[member_at(member.name, member.claim.other())];
    const bool is_there = theirs.name == member.name;
    bool is_so = false;
    if (at == Step::enter) {
      own.name = member.name;
      own.is_over = false;
      ++own.use;
      if (!job_.are_marks_of_a_use) own.marks = {};
    } else if (at == Step::look) {
      is_so = is_there && theirs.is_over;
    } else if (at == Step::mark_own) {
      mark(own, other, own.use);
    } else if (at == Step::say_over) {
      own.is_over = true;
    } else if (at == Step::find) {
      is_so = is_there;
      member.found = theirs.use;
    } else {
      mark(theirs, self, member.found);
    }
    member.claim.handle(is_so);
    return true;
  }

  void mark(Entry& entry, int place, int use) const {
    const int number = job_.are_marks_of_a_use ? use : entry.use;
    entry.marks[place] = std::max(entry.marks[place], number);
  }

  // As soon as its owner is through and all others are marked or have ended.
  bool free(State& state, int i) {
    const Member& owner = state.members[i];
    Entry& own = state.entries[i];
    const bool is_through = owner.name > own.name || owner.claim.step() == Step::done;
    if (owner.has_ended || own.name == 0 || !is_through) return false;
    for (int other = 0; other < job_.members; ++other)
      if (other != i && !state.members[other].has_ended &&
          own.marks[place(own.name, other)] != own.use)
        return false;
    for (int other = 0; other < job_.members; ++other)
      if (!state.members[other].has_ended && !state.members[other].has_gone(own.name))
        wrong_ = "the entry of " + std::to_string(i) + " for " + std::to_string(own.name) +
                 " is freed before " + std::to_string(other) + " has gone";
    own.name = 0;
    return true;
  }

  bool die(State& state, int i) {
    if (state.deaths == job_.deaths || state.members[i].has_ended) return false;
    state.members[i].has_ended = true;
    ++state.deaths;
    return true;
  }

  void check_end(const State& state) {
    for (int i = 0; i < job_.members; ++i) {
      const bool is_through = state.members[i].name > job_.names && state.entries[i].name == 0;
      if (!is_through && !state.members[i].has_ended)
        wrong_ = std::to_string(i) + " waits for ever, or its entry is never freed";
    }
  }

  std::string digest(const State& state) const {
    std::string text;
    const auto add = [&](int value) { text += static_cast<char>(value); };
    for (int i = 0; i < job_.members; ++i) {
      const Member& member = state.members[i];
      add(member.name);
      add(static_cast<int>(member.claim.step()));
      add(index(member.claim.other()));
      add(member.found);
      add(member.has_ended ? 1 : 0);
      const Entry& entry = state.entries[i];
      add(entry.name);
      add(entry.use);
      add(entry.is_over ? 1 : 0);
      for (const int mark : entry.marks) add(mark);
    }
    return text;
  }

  const Job job_;
  std::unordered_set<std::string> seen_;
  std::string wrong_;
};

TEST_CASE("claims: whatever the order, entries are freed when all have gone, and not before") {
  for (const Job& job : {Job{2, 4, 0}, Job{2, 3, 1}, Job{3, 2, 0}, Job{3, 1, 2}, Job{4, 1, 0}}) {
    World world(job);
    CHECK(world.explore().empty());
    MESSAGE(job.members, " members, ", job.names, " names, ", job.deaths,
            " may die: ", world.states(), " states");
  }
}

// Two members may mark the same one: the later of these marks would be of whoever has the entry by
// then.
TEST_CASE("claims: marks that are not of one use are taken for those of others") {
  World world({3, 2, 0, false});
  CHECK(world.explore() != "");
}

}  // namespace
}  // namespace resprout::protocols
