// resprout_swarm: random operations with random faults, until a promise is broken or time is over.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "core/invariant.hpp"
#include "sim/swarm/run.hpp"

namespace resprout::sim {
namespace {

constexpr const char* usage =
    "usage: resprout_swarm [--protocol NAME] [--seed S] [--runs N | --minutes M] [--verbose]\n"
    "Runs random operations with random faults and checks every promise. The seeds are S, S+1, "
    "...;\n"
    "without --protocol, each protocol in turn. --verbose prints what happened, step by step.\n"
    "SIGINT and SIGTERM end it, and it says what it has run until then.\n";

struct Options {
  const SwarmProtocol* protocol = nullptr;  // null: all
  std::uint64_t seed = 1;
  std::uint64_t runs = 10000;  // of each protocol
  std::uint64_t minutes = 0;   // 0: until `runs`
  bool verbose = false;
};

[[noreturn]] void refuse(const std::string& why) {
  std::cerr << "resprout_swarm: " << why << '\n' << usage;
  std::exit(2);
}

std::uint64_t parse_number(std::string_view option, const char* text) {
  std::uint64_t value = 0;
  const std::string_view given = text == nullptr ? "" : text;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc{} || end != given.data() + given.size() || given.empty())
    refuse(std::string(option) + " needs a number, not '" + std::string(given) + "'");
  return value;
}

Options parse(char** arguments) {
  Options options;
  while (*arguments != nullptr) {
    const std::string_view option = *arguments++;
    if (option == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (option == "--help") {
      std::cout << usage;
      std::exit(0);
    }
    const char* value = *arguments;
    if (option == "--protocol") {
      options.protocol = find_swarm_protocol(value == nullptr ? "" : value);
      if (options.protocol == nullptr) refuse("--protocol is one of " + swarm_protocol_names());
    } else if (option == "--seed") {
      options.seed = parse_number(option, value);
    } else if (option == "--runs") {
      options.runs = parse_number(option, value);
    } else if (option == "--minutes") {
      options.minutes = parse_number(option, value);
    } else {
      refuse("there is no option '" + std::string(option) + "'");
    }
    ++arguments;
  }
  return options;
}

void print(const char* name, const RunReport& report) {
  std::printf(
      "%s: %llu operations of %llu processes, %llu messages, %llu crashes (%llu of a root), "
      "%llu false suspicions, %llu rightly without a result\n",
      name, static_cast<unsigned long long>(report.operations),
      static_cast<unsigned long long>(report.processes),
      static_cast<unsigned long long>(report.messages),
      static_cast<unsigned long long>(report.crashes),
      static_cast<unsigned long long>(report.coordinator_crashes),
      static_cast<unsigned long long>(report.false_suspicions),
      static_cast<unsigned long long>(report.failures));
}

struct Running {
  const char* protocol = "";
  std::uint64_t seed = 0;
};
Running running;  // for who has no more to say than this: a broken invariant

volatile std::sig_atomic_t ended_by = 0;  // a signal

void print_replay() {
  std::printf("replay: resprout_swarm --protocol %s --seed %llu --runs 1 --verbose\n",
              running.protocol, static_cast<unsigned long long>(running.seed));
}

// Runs seeds from `seed` on and returns what happened until the first violation.
RunReport run_seeds(const SwarmProtocol& protocol, std::uint64_t seed, std::uint64_t runs,
                    bool verbose) {
  RunReport total;
  for (std::uint64_t i = 0; i < runs && total.violation.empty() && ended_by == 0; ++i) {
    running = {protocol.name, seed + i};
    total.add(protocol.run(running.seed, verbose ? &std::cout : nullptr));
    if (total.violation.empty()) continue;
    std::printf("%s: %s\n", protocol.name, total.violation.c_str());
    print_replay();
  }
  return total;
}

int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::minutes(options.minutes);
  const std::uint64_t batch = options.minutes == 0 ? options.runs : 1000;
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int by) { ended_by = by; });
  std::array<RunReport, std::tuple_size_v<decltype(swarm_protocols)>> totals;
  std::uint64_t seed = options.seed;
  bool is_broken = false;
  do {
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const SwarmProtocol& protocol = swarm_protocols[i];
      if (options.protocol != nullptr && options.protocol != &protocol) continue;
      totals[i].add(run_seeds(protocol, seed, batch, options.verbose));
      is_broken |= !totals[i].violation.empty();
    }
    seed += batch;
  } while (!is_broken && ended_by == 0 && options.minutes != 0 && Clock::now() < end);
  for (std::size_t i = 0; i < totals.size(); ++i)
    if (totals[i].operations != 0) print(swarm_protocols[i].name, totals[i]);
  if (is_broken) return 1;
  return ended_by == 0 ? 0 : 128 + ended_by;
}

}  // namespace
}  // namespace resprout::sim

void resprout::say_broken(const char* condition, const char* file, int line) {
  std::printf("%s: at %s:%d this does not hold: %s\n", sim::running.protocol, file, line,
              condition);
  sim::print_replay();
  std::fflush(stdout);
}

int main(int, char** argv) { return resprout::sim::run(resprout::sim::parse(argv + 1)); }
