// Random programs of collectives, of one communicator or several, whose processes die at random
// moments, in jobs whose every interleaving a seed decides: what survivors get is the same
// everywhere. Who revokes a communicator ends it for all who live, and no other one.
//
// A failure prints the command that repeats its story alone. SESSION_STORIES=N tells N of them.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "doctest/doctest.h"
#include "runtime/testing/story_player.hpp"

using namespace resprout;
using namespace resprout::runtime;
using namespace resprout::runtime::testing;

namespace {

class Telling {
 public:
  explicit Telling(std::uint64_t seed)
      : story_(seed),
        job_(story_.ranks, seed, story_.hosts),
        libraries_(story_.communicators.size()),
        gots_(static_cast<std::size_t>(story_.ranks), std::vector<Got>(story_.steps())) {
    for (int rank = 0; rank < story_.ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      job_.decide(rank, story_.fates[i]);
      players_.emplace_back(story_, job_, rank, libraries_, gots_[i]);
    }
  }

  // What is wrong, if anything.
  std::string tell() {
    const bool has_ended =
        job_.run([&](int rank, Engine&) { players_[static_cast<std::size_t>(rank)].play(); },
                 [&] { return is_all_revoked_or_none(); });
    if (!has_ended) return "nothing goes on\n" + describe();
    for (std::size_t step = 0; step < story_.steps(); ++step)
      if (const std::string wrong = check(step); !wrong.empty())
        return "step " + std::to_string(step) + ", " + wrong;
    if (const std::string wrong = check_revocations(); !wrong.empty()) return wrong;
    if (const std::string wrong = check_kept(); !wrong.empty()) return wrong;
    return check_orphans();
  }

 private:
  const Got& got(std::size_t step, int rank) const {
    return gots_[static_cast<std::size_t>(rank)][step];
  }
  const Step& what_of(std::size_t step, const Got& got) const {
    return story_.what(step, got.is_otherwise);
  }

  std::string check(std::size_t step) const {
    std::optional<std::uint64_t> ranks;
    std::uint64_t up_to_last = 0;  // whom one of a scan counts says nothing of those behind it
    std::uint64_t passed = 0;
    for (const int rank : story_.communicator_of(step).ranks) {
      const Got& its = got(step, rank);
      passed |= std::uint64_t{1} << rank;
      if (!its.has_ended) continue;
      const std::string wrong = check_alone(step, rank, its);
      if (!wrong.empty())
        return what_of(step, its).name() + ": rank " + std::to_string(rank) + " " + wrong;
      if (!counts(step, rank, its)) continue;
      const bool is_scan = what_of(step, its).is_scan();
      const std::uint64_t compared = is_scan ? up_to_last : ~std::uint64_t{0};
      if (((its.ranks ^ ranks.value_or(its.ranks)) & compared) != 0)
        return what_of(step, its).name() + ": rank " + std::to_string(rank) + " got that of " +
               named(its.ranks) + ", another that of " + named(*ranks);
      ranks = its.ranks;
      up_to_last = passed;
    }
    return "";
  }

  // What it got has to be what others get. What is agreed on binds the dead, too, if one lives who
  // could know.
  bool counts(std::size_t step, int rank, const Got& its) const {
    const Step& what = what_of(step, its);
    if (its.is_revoked) return false;
    if (what.has_result_at_root_only() && rank != root_of(step, what)) return false;
    return !job_.is_lost(rank) || (what.kind == Kind::agree && its.ranks != 0 &&
                                   has_survivor(story_.communicator_of(step)));
  }
  bool has_survivor(const Communicator& communicator) const {
    return std::ranges::any_of(communicator.ranks, [&](int rank) { return !job_.is_lost(rank); });
  }

  std::string check_alone(std::size_t step, int rank, const Got& its) const {
    const Step& what = what_of(step, its);
    if (its.is_begun_revoked && its.ranks != 0 &&
        !(what.is_broadcast() && rank == root_of(step, what)))
      return "got that of " + named(its.ranks) + " of what it began when that was revoked";
    if (!its.is_good) return "got something else, of " + named(its.ranks);
    if (!counts(step, rank, its)) return "";
    if (its.ranks != its.contributors) return "is told the wrong contributors";
    std::uint64_t least = 0;
    for (const int other : story_.communicator_of(step).ranks)
      if (!job_.is_lost(other) && (!what.is_broadcast() || other == root_of(step, what)))
        least |= std::uint64_t{1} << other;
    if ((its.ranks & least) != least) return "got that of " + named(its.ranks) + " only";
    return "";
  }

  // If one who lives knows that it is revoked, all do.
  bool is_all_revoked_or_none() const {
    if (story_.revocations.empty()) return true;
    for (std::size_t i = 0; i < story_.communicators.size(); ++i) {
      int revoked = 0;
      int members = 0;
      for (const int rank : story_.communicators[i].ranks) {
        if (job_.is_lost(rank)) continue;
        ++members;
        revoked += is_revoked(i, rank) ? 1 : 0;
      }
      if (revoked != 0 && revoked != members) return false;
    }
    return true;
  }
  bool is_revoked(std::size_t communicator, int rank) const {
    const Session* session = players_[static_cast<std::size_t>(rank)].session_of(communicator);
    return session != nullptr && session->is_revoked();
  }

  // Nothing is revoked that nobody has revoked, and what is revoked is said once.
  std::string check_revocations() {
    for (int rank = 0; rank < story_.ranks; ++rank) {
      if (job_.is_lost(rank)) continue;
      int revoked = 0;
      for (std::size_t i = 0; i < story_.communicators.size(); ++i) {
        if (!is_revoked(i, rank)) continue;
        ++revoked;
        if (std::none_of(players_.begin(), players_.end(),
                         [&](const Player& player) { return player.has_revoked(i); }))
          return "communicator " + std::to_string(i) + " is revoked at rank " +
                 std::to_string(rank) + ", and nobody has done that";
      }
      if (job_.engine(rank).revocation_count() != revoked)
        return "rank " + std::to_string(rank) + " is told of other revocations than there were";
    }
    return "";
  }

  // The slices of the last call that synchronized, and what did not since.
  static constexpr int kept_max = static_cast<int>(slices_each) + unsynchronized_max - 1;

  // What others may ask for is bounded: barriers came in between, and behind what is large.
  std::string check_kept() const {
    for (int rank = 0; rank < story_.ranks; ++rank)
      for (std::size_t i = 0; !job_.is_lost(rank) && i < story_.communicators.size(); ++i) {
        const Player& player = players_[static_cast<std::size_t>(rank)];
        const auto last = player.last_in(i);
        const bool has_kept_nothing = last && is_large_broadcast(*last, got(*last, rank));
        if (!has_kept_nothing && story_.steps() < unsynchronized_max) continue;
        const auto [operations, bytes] = player.kept_of(i);
        if (operations > kept_max || (has_kept_nothing && bytes != 0))
          return "rank " + std::to_string(rank) + " keeps more than it should";
      }
    return "";
  }
  bool is_large_broadcast(std::size_t step, const Got& its) const {
    const Step& what = what_of(step, its);
    return what.kind == Kind::broadcast && what.bytes >= large_bytes && its.ranks != 0 &&
           !its.is_revoked;
  }

  // Each has opened all communicators in which it is. Of what is revoked the dead may have said
  // farewell (farewell.hpp) before others heard.
  std::string check_orphans() {
    if (!story_.revocations.empty()) return "";
    for (int rank = 0; rank < story_.ranks; ++rank)
      if (!job_.is_lost(rank) &&
          job_.engine(rank).describe().find(", orphans 0,") == std::string::npos)
        return "rank " + std::to_string(rank) + " has frames for sessions that nobody opens";
    return "";
  }

  int root_of(std::size_t step, const Step& what) const {
    return story_.communicator_of(step).ranks[static_cast<std::size_t>(what.root)];
  }

  static std::string named(std::uint64_t ranks) {
    std::string text = "{";
    for (int rank = 0; rank < 64; ++rank)
      if ((ranks >> rank & 1) != 0) text += " " + std::to_string(rank);
    return text + " }";
  }

  std::string describe() {
    std::string text;
    for (int rank = 0; rank < story_.ranks; ++rank)
      text += (job_.is_lost(rank) ? "lost: " : "") + job_.engine(rank).describe() + "\n";
    return text;
  }

  Story story_;
  FiberJob job_;
  std::vector<Library> libraries_;
  std::vector<std::vector<Got>> gots_;  // by rank and step
  std::vector<Player> players_;
};

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::stoull(given) : otherwise;
}

}  // namespace

TEST_CASE("stories: whoever dies when, survivors get the same of every collective") {
  const std::uint64_t alone = number_in("SESSION_STORY", 0);
  const std::uint64_t first = alone != 0 ? alone : 1;
  const std::uint64_t last = alone != 0 ? alone : number_in("SESSION_STORIES", 20000);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string wrong = Telling(seed).tell();
    INFO("repeat with: SESSION_STORY=" << seed
                                       << " build/release/bin/runtime_test -tc='stories:*'");
    REQUIRE(wrong == "");
  }
}
