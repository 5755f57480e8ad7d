// Random programs of collectives whose processes die at random moments, in jobs whose every
// interleaving a seed decides: what survivors get is the same everywhere.
//
// A failure prints the command that repeats its story alone. SESSION_STORIES=N tells N of them.
#include <cstdlib>
#include <map>
#include <optional>

#include "doctest/doctest.h"
#include "runtime/blocks.hpp"
#include "runtime/native_call.hpp"
#include "runtime/started.hpp"
#include "runtime/testing/story.hpp"

using namespace resprout;
using namespace resprout::runtime;
using namespace resprout::runtime::testing;

namespace {

// What a process got of a step.
struct Got {
  bool is_otherwise = false;
  std::uint64_t ranks = 0;         // whose parts are in it; none: it was not delivered
  std::uint64_t contributors = 0;  // as the session says
  bool is_good = true;             // and all of this step
  bool has_ended = false;

  void take(const Step& what, std::size_t step, const Part& part) {
    ranks = part.ranks;
    is_good = what.is_broadcast() ? part.stamp == Part::stamp_of(step) : part.is_sum_of(step);
  }
  void take_row(std::size_t step, std::span<const std::byte> row) {
    BlockReader reader(row);
    while (const auto block = reader.next()) {
      const Part part = Part::from(block->data);
      const Part given = Part::of(block->rank, step);
      is_good = is_good && part.ranks == given.ranks && part.stamp == given.stamp;
      ranks += part.ranks;
    }
  }
  void end(const Session& session) {
    for (const int rank : session.contributors()) contributors += std::uint64_t{1} << rank;
    has_ended = true;
  }
};

int self_of(const Session& session) {
  return session.everybody().comm_rank(session.everybody().self());
}

Buffer row_of(Session& session, const Part& part) {
  Buffer row = session.allocate(block_bytes(sizeof part));
  BlockWriter({row.data(), row.size()}).put(self_of(session), bytes_of(part));
  return row;
}

ReduceSpec reduce_spec(const Step& what) {
  return what.is_star ? ReduceSpec::star() : ReduceSpec{};
}
BroadcastSpec broadcast_spec(const Step& what) {
  return what.is_star ? BroadcastSpec::star() : BroadcastSpec{};
}

// A library whose operations end nowhere any more, once one was interrupted: at some they have
// ended then, at others not.
struct Library {
  std::map<std::size_t, std::map<int, Part>> entered;  // by step and rank
  bool is_interrupted = false;
};

class LibraryCall final : public NativeCall {
 public:
  LibraryCall(TurnsJob& job, Library& library, const Step& what, std::size_t step, int self)
      : job_(job), library_(library), what_(what), step_(step), self_(self) {}

  bool run() override {
    auto& parts = library_.entered[step_];
    parts[self_] = Part::of(self_, step_);
    Engine& engine = job_.engine(self_);
    while (!has_all(parts)) {
      if (library_.is_interrupted || engine.lost_count() != 0) return false;
      engine.tick();
    }
    while (job_.turns().random().below(4) != 0) {  // it takes its time
      if (library_.is_interrupted) return false;
      engine.tick();
    }
    for (const auto& [rank, part] : parts)
      if (!what_.is_broadcast() || rank == what_.root) result += part;
    return true;
  }
  void interrupt() override { library_.is_interrupted = true; }
  std::span<const std::byte> payload() override { return bytes_of(result); }
  void take(std::span<const std::byte> payload) override { result = Part::from(payload); }
  bool synchronizes() const override { return !what_.is_broadcast(); }
  int root() const override { return what_.is_broadcast() ? what_.root : -1; }

  Part result;

 private:
  bool has_all(const std::map<int, Part>& parts) const {
    return what_.is_broadcast() ? parts.contains(what_.root)
                                : parts.size() == static_cast<std::size_t>(job_.size());
  }

  TurnsJob& job_;
  Library& library_;
  const Step what_;
  const std::size_t step_;
  const int self_;
};

// A step that is started, and not waited for.
class StartedStep final : public Task {
 public:
  StartedStep(Session& session, const Step& what, std::size_t step, Got& got)
      : session_(session),
        started_(session),
        what_(what),
        step_(step),
        mine_(Part::of(self_of(session), step)),
        got_(got) {}

  // As operators of a program are: so others may have to wait for its threads.
  bool is_for_program() const override { return sum_.is_for_program(); }

  bool advance() override {
    if (!has_begun_) begin();
    has_begun_ = true;
    const bool is_over = started_.advance([&](std::span<const std::byte> bytes) {
      if (what_.kind == Kind::gather || what_.kind == Kind::allgather)
        got_.take_row(step_, bytes);
      else if (what_.kind != Kind::barrier)
        got_.take(what_, step_, Part::from(bytes));
    });
    if (!is_over) return false;
    if (what_.is_broadcast() && self_of(session_) == what_.root) got_.ranks = mine_.ranks;
    got_.end(session_);
    if (what_.kind == Kind::barrier) got_.ranks = got_.contributors;
    return true;
  }

 private:
  void begin() {
    const std::span<const std::byte> input = bytes_of(mine_);
    const ReduceSpec spec = reduce_spec(what_);
    switch (what_.kind) {
      case Kind::agree:
        return started_.agree(spec, input, sum_);
      case Kind::barrier:
        return started_.barrier();
      case Kind::reduce:
        return started_.reduce(spec, what_.root, input, sum_);
      case Kind::gather:
        return started_.gather(spec, what_.root, row_of(session_, mine_));
      case Kind::allgather:
        return started_.allgather(spec, row_of(session_, mine_));
      case Kind::broadcast:
        return started_.broadcast(broadcast_spec(what_), what_.root, input);
      default:
        return started_.allreduce(spec, input, sum_);
    }
  }

  Session& session_;
  Started started_;
  const Step what_;
  const std::size_t step_;
  const Part mine_;
  PartSum sum_;
  bool has_begun_ = false;
  Got& got_;
};

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
      run_by_messages(lock, session, step, got);
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

  void run_by_messages(Lock& lock, Session& session, std::size_t step, Got& got) {
    const Step& what = what_of(step, got);
    const Part mine = Part::of(self_of(session), step);
    const ReduceSpec spec = reduce_spec(what);
    PartSum sum;
    const auto take = [&](std::span<const std::byte> bytes) {
      got.take(what, step, Part::from(bytes));
    };
    const auto take_row = [&](std::span<const std::byte> row) { got.take_row(step, row); };
    switch (what.kind) {
      case Kind::allreduce:
      case Kind::native_allreduce:
        session.allreduce(lock, spec, bytes_of(mine), sum, take);
        break;
      case Kind::agree:
        session.agree(lock, spec, bytes_of(mine), sum, take);
        break;
      case Kind::slices:
        run_in_slices(lock, session, step, got);
        break;
      case Kind::barrier:
        session.barrier(lock);
        break;
      case Kind::reduce:
        session.reduce(lock, spec, what.root, bytes_of(mine), sum, take);
        break;
      case Kind::gather:
        session.gather(lock, spec, what.root, row_of(session, mine), take_row);
        break;
      case Kind::allgather:
        session.allgather(lock, spec, row_of(session, mine), take_row);
        break;
      case Kind::broadcast:
      case Kind::native_broadcast:
        session.broadcast(lock, broadcast_spec(what), what.root, bytes_of(mine), take);
        if (self_of(session) == what.root) got.ranks = mine.ranks;
        break;
    }
  }

  void run_in_slices(Lock& lock, Session& session, std::size_t step, Got& got) {
    std::array<Part, slices_each> mine;
    std::array<Slice, slices_each> slices;
    PartSum sum;
    for (std::size_t i = 0; i < slices_each; ++i) {
      mine[i] = Part::of(self_of(session), step, i);
      slices[i] = {bytes_of(mine[i]), &sum};
    }
    std::size_t slice = 0;
    const auto take = [&](std::span<const std::byte> bytes) {
      const Part part = Part::from(bytes);
      got.is_good =
          got.is_good && part.is_sum_of(step, slice) && (slice == 0 || part.ranks == got.ranks);
      got.ranks = part.ranks;
      ++slice;
    };
    const ReduceSpec spec = reduce_spec(what_of(step, got));
    while (!session.allreduce_in_slices(lock, spec, slices, take).is_delivered)
      if (session.is_revoked()) return;
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
