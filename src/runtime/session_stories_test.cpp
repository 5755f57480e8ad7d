// Random programs of collectives whose processes die at random moments, in jobs whose every
// interleaving a seed decides: what survivors get is the same everywhere.
//
// A failure prints the command that repeats its story alone. SESSION_STORIES=N tells N of them.
#include <cstdlib>
#include <numeric>
#include <optional>

#include "doctest/doctest.h"
#include "runtime/testing/story_library.hpp"
#include "runtime/testing/story_steps.hpp"

using namespace resprout;
using namespace resprout::runtime;
using namespace resprout::runtime::testing;

namespace {

class Telling {
 public:
  explicit Telling(std::uint64_t seed)
      : story_(seed),
        job_(story_.ranks, seed, story_.shares_memory),
        got_(story_.program.size() * static_cast<std::size_t>(story_.ranks)) {
    for (int rank = 0; rank < story_.ranks; ++rank)
      job_.decide(rank, story_.fates[static_cast<std::size_t>(rank)]);
  }

  // What is wrong, if anything.
  std::string tell() {
    std::vector<int> everybody(static_cast<std::size_t>(story_.ranks));
    std::iota(everybody.begin(), everybody.end(), 0);
    const bool has_ended = job_.run([&](int, Engine& engine) {
      Lock lock = engine.lock();
      Session& session = engine.open_session(lock, everybody);
      for (std::size_t step = 0; step < story_.program.size(); ++step) run(lock, session, step);
      session.finish_tasks(lock);
    });
    if (!has_ended) return "nothing goes on\n" + describe();
    for (std::size_t step = 0; step < story_.program.size(); ++step)
      if (const std::string wrong = check(step); !wrong.empty())
        return "step " + std::to_string(step) + ", " + wrong;
    return "";
  }

 private:
  Got& got(std::size_t step, int rank) {
    return got_[step * static_cast<std::size_t>(story_.ranks) + static_cast<std::size_t>(rank)];
  }

  const Step& what_of(std::size_t step, const Got& got) const {
    return (got.is_otherwise ? story_.otherwise : story_.program)[step];
  }

  void run(Lock& lock, Session& session, std::size_t step) {
    Got& got = this->got(step, self_of(session));
    if (step > 0) {
      const Got& last = this->got(step - 1, self_of(session));
      const Step& before = what_of(step - 1, last);
      got.is_otherwise = before.is_broadcast() && !before.is_started && last.ranks == 0;
    }
    const Step& what = what_of(step, got);
    if (what.is_started)
      return session.enqueue(std::make_shared<StartedStep>(session, what, step, got));
    session.finish_tasks(lock);
    if (!what.is_native() || !runs_natively(lock, session, step, got))
      run_by_messages(lock, session, what, step, got);
    got.end(session);
    if (what.kind == Kind::barrier) got.ranks = got.contributors;
  }

  bool runs_natively(Lock& lock, Session& session, std::size_t step, Got& got) {
    const Step& what = what_of(step, got);
    if (!session.may_go_natively()) return false;
    LibraryCall call(job_, library_, what, step, self_of(session));
    if (!session.run_natively(lock, call).is_delivered) return false;
    got.take(what, step, call.result);
    return true;
  }

  std::string check(std::size_t step) {
    std::optional<std::uint64_t> ranks;
    for (int rank = 0; rank < story_.ranks; ++rank) {
      const Got& its = got(step, rank);
      if (!its.has_ended) continue;
      const std::string wrong = check_alone(step, rank, its);
      if (!wrong.empty())
        return what_of(step, its).name() + ": rank " + std::to_string(rank) + " " + wrong;
      if (!counts(step, rank, its)) continue;
      if (its.ranks != ranks.value_or(its.ranks))
        return what_of(step, its).name() + ": rank " + std::to_string(rank) + " got that of " +
               named(its.ranks) + ", another that of " + named(*ranks);
      ranks = its.ranks;
    }
    return "";
  }

  // What it got has to be what others get.
  bool counts(std::size_t step, int rank, const Got& its) const {
    const Step& what = what_of(step, its);
    if (what.has_result_at_root_only() && rank != what.root) return false;
    return !job_.is_lost(rank) || (what.kind == Kind::agree && its.ranks != 0);
  }

  std::string check_alone(std::size_t step, int rank, const Got& its) const {
    const Step& what = what_of(step, its);
    if (!its.is_good) return "got something else, of " + named(its.ranks);
    if (!counts(step, rank, its)) return "";
    if (its.ranks != its.contributors) return "is told the wrong contributors";
    std::uint64_t least = 0;
    for (int other = 0; other < story_.ranks; ++other)
      if (!job_.is_lost(other) && (!what.is_broadcast() || other == what.root))
        least |= std::uint64_t{1} << other;
    if ((its.ranks & least) != least) return "got that of " + named(its.ranks) + " only";
    return "";
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
  TurnsJob job_;
  Library library_;
  std::vector<Got> got_;
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
