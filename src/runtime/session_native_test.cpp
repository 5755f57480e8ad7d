// Operations of a library below that can be interrupted at any moment: at some it ends well, at
// others not, and then what is settled has to be the same everywhere.
#include <string>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/collectives.hpp"
#include "runtime/native_call.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr int ranks = 6;
constexpr int operations = 60;

// What all ranks share of a library whose operations, once interrupted, end nowhere any more. As
// with MPI, some may have left an operation before.
struct Library {
  struct Slot {
    std::array<std::atomic<bool>, ranks> has_entered{};
    std::array<std::atomic<long>, ranks> contribution{};
  };
  std::array<Slot, operations> slots;
  std::atomic<bool> is_interrupted{false};

  // A value from each of `from`, or not.
  bool receive(const Engine& engine, int operation, const std::vector<int>& from, long& sum) {
    Slot& slot = slots[static_cast<std::size_t>(operation)];
    sum = 0;
    for (const int rank : from) {
      const auto i = static_cast<std::size_t>(rank);
      while (!slot.has_entered[i].load()) {
        if (is_interrupted.load() || engine.losses().count() != 0) return false;
        std::this_thread::yield();
      }
      sum += slot.contribution[i].load();
    }
    return true;
  }
};

// The sum of all, or the contribution of the root.
class Call final : public NativeCall {
 public:
  Call(Library& library, const Engine& engine, int operation, int root_or_none, long value)
      : library_(library),
        engine_(engine),
        operation_(operation),
        root_(root_or_none),
        value_(value) {}

  bool run() override {
    auto& slot = library_.slots[static_cast<std::size_t>(operation_)];
    const auto self = static_cast<std::size_t>(engine_.self());
    slot.contribution[self] = value_;
    slot.has_entered[self] = true;
    if (dies_inside) return false;
    std::vector<int> from(ranks);
    std::iota(from.begin(), from.end(), 0);
    if (root_ >= 0) from = {root_};
    return library_.receive(engine_, operation_, from, result);
  }
  void interrupt() override { library_.is_interrupted = true; }
  std::span<const std::byte> payload() override { return std::as_bytes(std::span(&result, 1)); }
  void take(std::span<const std::byte> payload) override {
    std::memcpy(&result, payload.data(), sizeof result);
  }
  bool synchronizes() const override { return root_ < 0; }
  int root() const override { return root_; }

  long result = -1;
  bool dies_inside = false;

 private:
  Library& library_;
  const Engine& engine_;
  const int operation_;
  const int root_;
  const long value_;
};

struct Story {
  bool is_star;
  bool has_broadcasts;
  int victim;
  int dies_in;
  bool dies_inside;  // or before it
  unsigned seed;
};

// What each rank got of each operation; -1: nothing.
using Got = std::array<std::array<long, operations>, ranks>;

long run_operation(Engine& engine, Session& session, Call& call, int root, long value,
                   bool is_star) {
  Lock lock = engine.lock();
  if (session.may_go_natively()) {
    if (session.run_natively(lock, call).is_delivered) return call.result;
    if (call.dies_inside) return -1;
  }
  long result = -1;
  Sum sum;
  const auto take = [&](std::span<const std::byte> bytes) {
    std::memcpy(&result, bytes.data(), sizeof result);
  };
  const auto input = std::as_bytes(std::span(&value, 1));
  if (root < 0)
    allreduce(session, lock, ReduceSpec{}, input, sum, take);
  else
    broadcast(session, lock, is_star ? BroadcastSpec::star() : BroadcastSpec{}, root, input, take);
  return result;
}

Got tell(const Story& story) {
  Got got{};
  Library library;
  Job job(ranks, story.is_star);
  job.run([&](int rank, Engine& engine, Session& session) {
    Random random(story.seed * 97 + static_cast<unsigned>(rank));
    for (int i = 0; i < operations; ++i) {
      for (auto naps = random.below(8) == 0 ? random.below(64) : 0; naps > 0; --naps)
        std::this_thread::yield();
      const bool is_last = rank == story.victim && i == story.dies_in;
      if (is_last && !story.dies_inside) return job.die(rank);
      const int root = story.has_broadcasts && i % 4 != 0 ? i % ranks : -1;
      const long value = 1000L * i + (1L << rank);
      Call call(library, engine, i, root, value);
      if (is_last) {
        call.dies_inside = true;
        call.run();
        return job.die(rank);
      }
      got[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)] =
          run_operation(engine, session, call, root, value, story.is_star);
    }
  });
  return got;
}

// What is not as it should be; empty: everybody who lives has the same, which is everybody's or the
// survivors'.
std::string wrong_in(const Got& got, const Story& story) {
  const auto first = static_cast<std::size_t>(story.victim == 0 ? 1 : 0);
  for (int i = 0; i < operations; ++i) {
    const long result = got[first][static_cast<std::size_t>(i)];
    const std::string of_it = " of operation " + std::to_string(i);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const long other = got[rank][static_cast<std::size_t>(i)];
      if (static_cast<int>(rank) != story.victim && other != result)
        return std::to_string(result) + " and " + std::to_string(other) + of_it;
    }
    const long base = 1000L * i;
    const bool may_lack = i >= story.dies_in;
    if (story.has_broadcasts && i % 4 != 0) {
      const int root = i % ranks;
      // The victim may have left what the others are at, up to the last that synchronized.
      const bool has_left_it = i > (story.dies_in - 1) / 4 * 4;
      const bool is_failure = result == -1 && has_left_it && root == story.victim;
      if (result != base + (1L << root) && !is_failure) return std::to_string(result) + of_it;
      continue;
    }
    const long all = base * ranks + 63;
    const long survivors = base * (ranks - 1) + 63 - (1L << story.victim);
    const bool may_be_all = i <= story.dies_in;
    if (!(may_be_all && result == all) && !(may_lack && result == survivors))
      return std::to_string(result) + of_it;
  }
  return {};
}

}  // namespace

TEST_CASE("native operations: all are the library's, if nobody is lost") {
  const Got got = tell({.is_star = true,
                        .has_broadcasts = true,
                        .victim = -1,
                        .dies_in = operations,
                        .dies_inside = false,
                        .seed = 1});
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < operations; ++i) {
      const bool is_broadcast = i % 4 != 0;
      const long expected = is_broadcast ? 1000L * i + (1L << i % ranks) : 6000L * i + 63;
      CHECK(got[rank][static_cast<std::size_t>(i)] == expected);
    }
}

TEST_CASE("native operations: whatever a loss interrupts comes out the same at all survivors") {
  Random random(2);
  for (unsigned seed = 0; seed < 240; ++seed) {
    const Story story{.is_star = seed % 2 == 0,
                      .has_broadcasts = seed % 4 < 2,
                      .victim = static_cast<int>(random.below(ranks)),
                      .dies_in = static_cast<int>(random.below(operations)),
                      .dies_inside = random.below(2) == 0,
                      .seed = seed};
    CAPTURE(story.victim);
    CAPTURE(story.dies_in);
    CAPTURE(story.dies_inside);
    CAPTURE(story.seed);
    CHECK(wrong_in(tell(story), story) == "");
  }
}
