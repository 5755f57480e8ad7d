// Replicas of one rank run the same random program while frames arrive in any order and planes are
// lost at any moment. A seed is a run: programs have threads, of which one runs at a time, and the
// generator says which.
#include <algorithm>
#include <semaphore>
#include <thread>

#include "doctest/doctest.h"
#include "runtime/replicas/decisions_test.hpp"

using namespace resprout;
using namespace resprout::runtime;
using testing::DecidingReplicas;

namespace {

using Bytes = Decisions::Bytes;
// What a program has got, call by call: the answers, or nothing.
using Transcript = std::vector<std::optional<Bytes>>;

class Program {
 public:
  struct Killed : std::exception {};

  template <typename Body>
  explicit Program(Body body)
      : thread_([this, body] {
          go_.acquire();
          try {
            if (!must_die_) body(*this);
          } catch (const Killed&) {
            was_killed = true;
          } catch (const DecisionError& error) {
            complaint = error.what();
          }
          is_over_ = true;
          back_.release();
        }) {}
  ~Program() {
    if (!is_over_) kill();
    thread_.join();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Until it pauses or is over. REQUIRES: it is not over.
  void resume() {
    go_.release();
    back_.acquire();
  }
  // Of the program.
  void pause() {
    back_.release();
    go_.acquire();
    if (must_die_) throw Killed{};
  }
  void kill() {
    must_die_ = true;
    if (!is_over_) resume();
  }
  bool is_over() const { return is_over_; }

  std::string complaint;  // what it could not go on for
  bool was_killed = false;
  Transcript got;
  std::size_t shown = 0;  // so many of them have others seen

 private:
  bool must_die_ = false;
  bool is_over_ = false;
  std::binary_semaphore go_{0};
  std::binary_semaphore back_{0};
  std::thread thread_;
};

struct Run {
  explicit Run(std::uint64_t seed)
      : random(seed),
        window(1 + random.below(6)),
        replicas({.planes = static_cast<std::int32_t>(2 + random.below(2)),
                  .window = window,
                  .quiet_ns = random.chance(1, 2) ? INT64_MAX : 0}),
        kills(static_cast<int>(random.below(static_cast<std::uint64_t>(replicas.planes())))),
        script_seed(random.next()) {
    for (int plane = 0; plane < replicas.planes(); ++plane)
      programs.push_back(std::make_unique<Program>(
          [this, plane](Program& program) { run_program(program, plane); }));
  }

  // The same in all planes but for what it finds out itself.
  void run_program(Program& program, int plane) {
    Random script(script_seed);
    Random own(script_seed + 1 + static_cast<std::uint64_t>(plane));
    Decisions& decisions = replicas[plane];
    const auto meanwhile = [&program] { program.pause(); };
    const auto find = [&] {
      const auto value = own.next();
      return Bytes{static_cast<std::byte>(plane), static_cast<std::byte>(value)};
    };
    const auto find_slowly = [&] {
      program.pause();
      return find();
    };
    const auto look = [&]() -> std::optional<Bytes> {
      if (own.chance(3, 4)) return std::nullopt;
      return find();
    };
    const std::uint64_t calls = 4 + script.below(12);
    for (std::uint64_t call = 0; call < calls; ++call) {
      const auto kind = static_cast<std::uint32_t>(call);
      switch (script.below(4)) {
        case 0:
          program.got.push_back(decisions.decide(kind, Decisions::Pace::at_once, find, meanwhile));
          break;
        case 1:
          program.got.push_back(
              decisions.decide(kind, Decisions::Pace::blocks, find_slowly, meanwhile));
          break;
        case 2:  // until it says yes, or a few times
          for (std::uint64_t left = 1 + script.below(8); left > 0; --left) {
            program.got.push_back(decisions.poll(kind, look, meanwhile));
            if (program.got.back()) break;
          }
          break;
        default:
          decisions.settle(meanwhile);
          program.shown = program.got.size();
          break;
      }
      program.pause();
    }
    decisions.finish(meanwhile);
    program.shown = program.got.size();
  }

  bool is_over() const {
    return std::all_of(programs.begin(), programs.end(),
                       [](const auto& program) { return program->is_over(); });
  }

  void step() {
    std::vector<std::function<void()>> actions;
    for (int plane = 0; plane < replicas.planes(); ++plane) {
      Program& program = *programs[static_cast<std::size_t>(plane)];
      if (!program.is_over()) actions.emplace_back([&program] { program.resume(); });
    }
    for (const auto& [from, to] : replicas.pending())
      actions.emplace_back([this, from = from, to = to] { replicas.deliver(from, to); });
    for (std::size_t i = 0; i < to_hear.size(); ++i)
      actions.emplace_back([this, i] {
        const auto [plane, lost] = to_hear[i];
        to_hear.erase(to_hear.begin() + static_cast<std::ptrdiff_t>(i));
        if (replicas.is_alive(plane)) replicas[plane].lose_plane(lost);
      });
    if (kills > 0 && random.chance(1, 30)) actions.emplace_back([this] { kill_one(); });
    actions[static_cast<std::size_t>(random.below(actions.size()))]();
    for (int plane = 0; plane < replicas.planes(); ++plane)
      if (replicas.is_alive(plane)) CHECK(replicas[plane].kept() <= window);
  }

  void kill_one() {
    const auto plane =
        static_cast<int>(random.below(static_cast<std::uint64_t>(replicas.planes())));
    if (!replicas.is_alive(plane) || programs[static_cast<std::size_t>(plane)]->is_over()) return;
    --kills;
    replicas.kill(plane, random);
    programs[static_cast<std::size_t>(plane)]->kill();
    for (int other = 0; other < replicas.planes(); ++other)
      if (other != plane) to_hear.emplace_back(other, plane);
  }

  Random random;
  std::uint64_t window;
  DecidingReplicas replicas;
  int kills;
  std::uint64_t script_seed;
  std::vector<std::pair<int, int>> to_hear;  // who, about which lost plane
  std::vector<std::unique_ptr<Program>> programs;
};

bool begins_with(const Transcript& whole, const Transcript& other, std::size_t count) {
  return whole.size() >= count &&
         std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(count),
                    whole.begin());
}

}  // namespace

TEST_CASE("decisions: random programs get the same answers, whoever dies, and show nothing else") {
  std::size_t killed = 0;
  std::size_t led_later = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    Run run(seed);
    for (int steps = 0; !run.is_over(); ++steps) {
      REQUIRE(steps < 10000);
      run.step();
    }
    const int planes = run.replicas.planes();
    for (int a = 0; a < planes; ++a) {
      const Program& survivor = *run.programs[static_cast<std::size_t>(a)];
      if (!run.replicas.is_alive(a)) {
        ++killed;
        CHECK((survivor.was_killed || survivor.got.empty()));
        continue;
      }
      CHECK(survivor.complaint.empty());
      if (a > 0 && run.replicas[a].is_leading()) ++led_later;
      for (const auto& other : run.programs) {
        CHECK(begins_with(survivor.got, other->got, other->shown));
        if (run.replicas.is_alive(a)) CHECK(survivor.shown >= other->shown);
      }
    }
  }
  // The faults did happen.
  CHECK(killed > 300);
  CHECK(led_later > 100);
}
