// Allreduces in slices: whoever dies while they go on, a contribution is in all of them or in none.
#include <exception>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr int ranks = 6;
constexpr int slices = 4;
constexpr int operations = 12;
constexpr std::size_t elements = 32;
using Vector = std::array<long, elements>;

struct Death : std::exception {};

// Sums; the process dies when it has combined so often.
class MortalSum final : public Combiner {
 public:
  MortalSum(Job& job, int rank, int& combinations_left)
      : job_(job), rank_(rank), combinations_left_(combinations_left) {}
  bool is_commutative() const override { return true; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    if (combinations_left_-- == 0) {
      job_.die(rank_);
      throw Death{};
    }
    Sum().combine(lower, upper);
  }

 private:
  Job& job_;
  int rank_;
  int& combinations_left_;
};

struct Story {
  bool is_star;
  int victim;
  int dies_in;    // this operation
  int dies_when;  // it combines for this time, from 0; those who never do so live on
};

struct Told {
  // Of each operation, the sum that each rank got; -1: none.
  std::array<std::array<long, ranks>, operations> sums{};
  std::atomic<int> wrong{0};
  std::atomic<int> repetitions{0};
  std::atomic<bool> is_dead{false};
};

// All elements of a result are sums of the same contributions.
long sum_of(const Vector& result, Told& told) {
  for (const long element : result)
    if (element != result[0]) ++told.wrong;
  return result[0];
}

long run_operation(Engine& engine, Session& session, MortalSum& combiner, int rank, Told& told) {
  Vector input;
  input.fill(1L << rank);
  Vector result;
  result.fill(-1);
  std::array<Slice, slices> parts;
  const auto bytes = std::as_bytes(std::span(input));
  for (std::size_t i = 0; i < slices; ++i)
    parts[i] = {bytes.subspan(i * bytes.size() / slices, bytes.size() / slices), &combiner};
  const ReduceSpec spec = session.prefers_star() ? ReduceSpec::star() : ReduceSpec{};
  Lock lock = engine.lock();
  std::size_t written = 0;
  const auto write = [&](std::span<const std::byte> slice) {
    std::memcpy(reinterpret_cast<std::byte*>(result.data()) + written, slice.data(), slice.size());
    written += slice.size();
  };
  while (!session.allreduce_in_slices(lock, spec, parts, write).is_delivered) {
    if (written != 0 || !session.contributors().ranks().empty()) ++told.wrong;
    ++told.repetitions;
  }
  const long sum = sum_of(result, told);
  long contributors = 0;
  for (const int contributor : session.contributors().ranks()) contributors += 1L << contributor;
  if (contributors != sum) ++told.wrong;
  return sum;
}

void tell(const Story& story, Told& told) {
  Job job(ranks, story.is_star);
  for (auto& sums : told.sums) sums.fill(-1);
  job.run([&](int rank, Engine& engine, Session& session) {
    try {
      for (int i = 0; i < operations; ++i) {
        int combinations_left = rank == story.victim && i == story.dies_in ? story.dies_when : -1;
        MortalSum combiner(job, rank, combinations_left);
        told.sums[static_cast<std::size_t>(i)][static_cast<std::size_t>(rank)] =
            run_operation(engine, session, combiner, rank, told);
      }
    } catch (const Death&) {
      told.is_dead = true;
    }
  });
  for (int i = 0; i < operations; ++i) {
    const auto& sums = told.sums[static_cast<std::size_t>(i)];
    const auto survivor = static_cast<std::size_t>(story.victim == 0 ? 1 : 0);
    const long all = (1L << ranks) - 1;
    const long without = told.is_dead ? all - (1L << story.victim) : all;
    const long sum = sums[survivor];
    if (sum != without && (sum != all || i > story.dies_in)) ++told.wrong;
    for (int rank = 0; rank < ranks; ++rank)
      if (rank != story.victim && sums[static_cast<std::size_t>(rank)] != sum) ++told.wrong;
  }
}

}  // namespace

TEST_CASE("slices: everybody gets the sum of all, and each slice has a root of its own") {
  for (const bool is_star : {false, true}) {
    Told told;
    tell({is_star, 0, -1, 0}, told);
    CHECK(told.wrong == 0);
    CHECK(told.repetitions == 0);
    CHECK(told.sums[operations - 1][ranks - 1] == (1L << ranks) - 1);
  }
}

TEST_CASE("slices: a contribution is in all slices or in none, whoever dies in between") {
  int deaths = 0;
  int repetitions = 0;
  for (const bool is_star : {false, true})
    for (int victim = 0; victim < ranks; ++victim)
      for (int dies_when = 0; dies_when < 12; ++dies_when) {
        CAPTURE(is_star);
        CAPTURE(victim);
        CAPTURE(dies_when);
        Told told;
        tell({is_star, victim, dies_when % operations, dies_when}, told);
        CHECK(told.wrong == 0);
        deaths += told.is_dead ? 1 : 0;
        repetitions += told.repetitions;
      }
  CHECK(deaths >= 24);
  CHECK(repetitions > 0);
}
