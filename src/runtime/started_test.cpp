// Operations and tasks that nobody waits for, many in flight, with the lifeline's thread at work.
#include "runtime/started.hpp"

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/blocks.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr int operations = 60;

enum class Kind { allreduce, reduce, allgather, gather, barrier, broadcast };

// The same at all ranks.
struct Plan {
  Kind kind;
  int root;
  std::size_t numbers;
};

std::vector<Plan> plans(std::uint64_t seed, int size) {
  Random random(seed);
  std::vector<Plan> all;
  for (int i = 0; i < operations; ++i) {
    constexpr std::array<std::size_t, 4> numbers{1, 20, 5000, (large_bytes + 4096) / sizeof(long)};
    all.push_back({static_cast<Kind>(random.below(6)),
                   static_cast<int>(random.below(static_cast<std::uint64_t>(size))),
                   numbers[random.chance(1, 20) ? 3 : random.below(3)]});
  }
  return all;
}

// Sums, and remembers whether another thread than its own was asked to.
class OwnSum final : public Combiner {
 public:
  bool is_commutative() const override { return true; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    if (std::this_thread::get_id() != own_) is_misused = true;
    sum_.combine(lower, upper);
  }
  bool is_misused = false;

 private:
  const std::thread::id own_ = std::this_thread::get_id();
  Sum sum_;
};

// One operation; every rank contributes its bit.
class OneOperation final : public Task {
 public:
  OneOperation(Session& session, const Plan& plan, int rank)
      : started_(session), session_(session), plan_(plan), rank_(rank) {
    input_.assign(plan.numbers, plan.kind == Kind::broadcast && rank != plan.root ? 0 : 1L << rank);
  }

  bool is_for_program() const override {
    return plan_.kind == Kind::allreduce || plan_.kind == Kind::reduce;
  }

  bool advance() override {
    if (!has_begun_) begin();
    has_begun_ = true;
    const auto consume = [&](std::span<const std::byte> result) { take(result); };
    is_over = started_.advance(consume);
    return is_over;
  }

  bool is_over = false;
  // Who is in the result, or whose it is; 0: it has none; -1: it is wrong.
  long mask = 0;
  bool is_delivered() const { return started_.outcome().is_delivered; }
  bool is_misused() const { return sum_.is_misused; }

 private:
  std::span<const std::byte> input() const { return std::as_bytes(std::span(input_)); }

  Buffer row() {
    Buffer row = session_.allocate(block_bytes(input().size()));
    BlockWriter({row.data(), row.size()}).put(rank_, input());
    return row;
  }

  void begin() {
    switch (plan_.kind) {
      case Kind::allreduce:
        return started_.allreduce(ReduceSpec{}, input(), sum_);
      case Kind::reduce:
        return started_.reduce(ReduceSpec{}, plan_.root, input(), sum_);
      case Kind::allgather:
        return started_.allgather(ReduceSpec{}, row());
      case Kind::gather:
        return started_.gather(ReduceSpec{}, plan_.root, row());
      case Kind::barrier:
        return started_.barrier();
      case Kind::broadcast:
        return started_.broadcast(session_.prefers_star() ? BroadcastSpec::star() : BroadcastSpec{},
                                  plan_.root, input());
    }
  }

  long number_in(std::span<const std::byte> data) const {
    std::vector<long> numbers(plan_.numbers);
    if (data.size() != numbers.size() * sizeof(long)) return -1;
    std::memcpy(numbers.data(), data.data(), data.size());
    for (const long number : numbers)
      if (number != numbers[0]) return -1;
    return numbers[0];
  }

  void take(std::span<const std::byte> result) {
    if (plan_.kind == Kind::barrier) return;
    if (plan_.kind != Kind::allgather && plan_.kind != Kind::gather) {
      mask = number_in(result);
      return;
    }
    BlockReader reader(result);
    while (const auto block = reader.next()) {
      const long number = number_in(block->data);
      mask = mask < 0 || number != 1L << block->rank ? -1 : mask | number;
    }
  }

  Started started_;
  Session& session_;
  const Plan plan_;
  const int rank_;
  bool has_begun_ = false;
  std::vector<long> input_;
  OwnSum sum_;
};

struct Results {
  std::array<std::array<long, operations>, 16> mask{};
  std::array<std::array<bool, operations>, 16> is_delivered{};
  std::atomic<int> misused{0};
};

// The lifeline's thread of a rank.
class Ticking {
 public:
  Ticking(Engine& engine, std::atomic<bool>& is_dead)
      : thread_([&] {
          while (!is_over_ && !is_dead) {
            engine.tick();
            std::this_thread::yield();
          }
        }) {}
  ~Ticking() {
    is_over_ = true;
    thread_.join();
  }
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Starts all operations, now and then waits for some that it has started, in any order.
void work(Job& job, int rank, const std::vector<Plan>& all, std::uint64_t seed, int deadly,
          Session& session, Results& results) {
  const auto r = static_cast<std::size_t>(rank);
  Engine& engine = *job.engines[r];
  const Ticking ticking(engine, job.is_dead[r]);
  Random random(seed * 100 + r);
  std::vector<std::pair<std::size_t, std::shared_ptr<OneOperation>>> in_flight;
  const auto wait_for = [&](std::size_t which) {
    Lock lock = engine.lock();
    const auto [i, task] = in_flight[which];
    engine.wait_until(lock, [&] { return task->is_over; });
    in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(which));
    results.mask[r][i] = task->mask;
    results.is_delivered[r][i] = task->is_delivered();
    if (task->is_misused()) results.misused.fetch_add(1);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int>(i) == deadly) return job.die(rank);
    {
      Lock lock = engine.lock();
      auto task = std::make_shared<OneOperation>(session, all[i], rank);
      in_flight.push_back({i, task});
      session.enqueue(task);
    }
    for (std::size_t k = random.below(9) / 3; k > 0 && in_flight.size() > 1; --k)
      wait_for(random.below(in_flight.size()));
    if (random.chance(1, 10)) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  while (!in_flight.empty()) wait_for(random.below(in_flight.size()));
}

}  // namespace

TEST_CASE("tasks: many in flight, waited for in any order, give everybody the right results") {
  for (const bool is_star : {false, true}) {
    for (const int size : {1, 2, 3, 5, 8}) {
      const std::uint64_t seed = static_cast<std::uint64_t>(size) + (is_star ? 100 : 0);
      const auto all = plans(seed, size);
      Results results;
      Job job(size, is_star);
      job.run([&](int rank, Engine&, Session& session) {
        work(job, rank, all, seed, -1, session, results);
      });
      CHECK(results.misused == 0);
      const long everybody = (1L << size) - 1;
      for (std::size_t i = 0; i < all.size(); ++i)
        for (int rank = 0; rank < size; ++rank) {
          CAPTURE(i);
          const bool is_root = rank == all[i].root;
          const auto [kind, root, numbers] = all[i];
          long expected = everybody;
          if (kind == Kind::barrier) expected = 0;
          if (kind == Kind::broadcast) expected = 1L << root;
          const bool has_result = is_root || (kind != Kind::reduce && kind != Kind::gather);
          const long got = results.mask[static_cast<std::size_t>(rank)][i];
          if (has_result) CHECK(got == expected);
          CHECK(results.is_delivered[static_cast<std::size_t>(rank)][i]);
        }
    }
  }
}

TEST_CASE("tasks: all survivors of random deaths get the same results of all that they started") {
  constexpr int size = 8;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::array<int, size> deadly{};
    deadly.fill(-1);
    for (int victims = 1 + static_cast<int>(random.below(3)); victims > 0; --victims)
      deadly[random.below(size)] = 5 + static_cast<int>(random.below(operations - 10));
    const auto all = plans(seed, size);
    Results results;
    Job job(size, seed % 2 == 0);
    job.run([&](int rank, Engine&, Session& session) {
      work(job, rank, all, seed, deadly[static_cast<std::size_t>(rank)], session, results);
    });
    CHECK(results.misused == 0);
    const auto lives = [&](std::size_t rank) { return deadly[rank] < 0; };
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      const auto [kind, root, numbers] = all[i];
      const auto root_rank = static_cast<std::size_t>(root);
      long live = 0;
      long entered = 0;
      std::size_t first = size;
      for (std::size_t rank = 0; rank < size; ++rank) {
        if (lives(rank)) live |= 1L << rank;
        if (lives(rank) || deadly[rank] > static_cast<int>(i)) entered |= 1L << rank;
        if (lives(rank) && first == size) first = rank;
      }
      for (std::size_t rank = 0; rank < size; ++rank) {
        if (!lives(rank)) continue;
        const long mask = results.mask[rank][i];
        if (kind == Kind::allreduce || kind == Kind::allgather || kind == Kind::broadcast) {
          CHECK(mask == results.mask[first][i]);
          CHECK(results.is_delivered[rank][i] == results.is_delivered[first][i]);
        }
        if (kind == Kind::broadcast && lives(root_rank)) CHECK(mask == 1L << root);
        const bool is_sum = kind == Kind::allreduce || kind == Kind::allgather ||
                            ((kind == Kind::reduce || kind == Kind::gather) && rank == root_rank);
        if (!is_sum) continue;
        CHECK((mask & live) == live);
        CHECK((mask & ~entered) == 0);
      }
    }
  }
}

TEST_CASE("tasks: what only the program's threads may do waits for them, all else does not") {
  Job job(3);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    const auto r = static_cast<std::size_t>(rank);
    const Ticking ticking(engine, job.is_dead[r]);
    const auto start = [&](Kind kind) {
      Lock lock = engine.lock();
      auto task = std::make_shared<OneOperation>(session, Plan{kind, 0, 5}, rank);
      session.enqueue(task);
      return task;
    };
    const auto is_over = [&](const OneOperation& task) {
      const Lock lock = engine.lock();
      return task.is_over;
    };
    const auto gathered = start(Kind::allgather);
    const auto barrier = start(Kind::barrier);
    // Nobody of the program drives the engine, and these end all the same.
    while (!is_over(*gathered) || !is_over(*barrier)) std::this_thread::yield();
    if (gathered->mask != 7) wrong.fetch_add(1);
    const auto sum = start(Kind::allreduce);
    // The sums come together at rank 0, while the others wait and it does not.
    if (rank == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (is_over(*sum)) wrong.fetch_add(1);
    }
    Lock lock = engine.lock();
    engine.wait_until(lock, [&] { return sum->is_over; });
    if (sum->mask != 7 || sum->is_misused()) wrong.fetch_add(1);
  });
  CHECK(wrong == 0);
}
