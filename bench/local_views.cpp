// What a membership costs a process, by the number of processes: with whole views and with local
// ones, after the death of the root and of an inner process, and after both have come back under
// their old identifiers (docs/explanation/protocols/local_membership.md).
//
// Prints a table in Markdown. Each line is simulated in a process of its own, whose memory at most,
// divided by the number of simulated processes, is what one of them takes with its part of the
// messages on their way.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/local_membership/local_membership.hpp"
#include "sim/logp/simulation.hpp"

namespace {

using namespace resprout;

// Returns false if it did not go as promised.
bool measure(const std::string& text, std::int32_t procs, bool come_back) {
  const std::size_t state = text.ends_with("local") ? sizeof(protocols::LargeLocalMembership)
                                                    : sizeof(protocols::LargeMembership);
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  sim::Machinery machinery;
  machinery.spec = std::get<registry::Spec>(registry::parse(text));
  machinery.procs = procs;
  if (come_back) machinery.returns = {{rank_at(5), {1000}}, {rank_at(0), {1000}}};
  auto made = std::get<std::unique_ptr<sim::Simulation>>(sim::Simulation::make(machinery));
  const std::vector<sim::Death> deaths{{rank_at(5), {0}}, {rank_at(0), {3}}};
  const std::clock_t begin = std::clock();
  const sim::Result result = made->run(deaths);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  const double bytes = 1024.0 * static_cast<double>(after.ru_maxrss - before.ru_maxrss) / procs;
  const long long ticks = result.completion_latency->ticks - (come_back ? 1000 : 0);
  std::printf("| %s%s | %d | %zu | %.0f | %.2f | %lld | %.1f |\n", text.c_str(),
              come_back ? ", both come back" : "", procs, state, bytes,
              static_cast<double>(result.totals.messages) / procs, ticks, seconds);
  return result.uncolored == 0 && result.contributors == (come_back ? procs : procs - 2);
}

bool measure_apart(const std::string& text, std::int32_t procs, bool come_back = false) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_right = measure(text, procs, come_back);
    std::fflush(stdout);
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main() {
  std::printf(
      "| membership | processes | state, bytes | memory a process, bytes | messages a process | "
      "ticks | s |\n|---|---:|---:|---:|---:|---:|---:|\n");
  bool is_right = true;
  for (const int levels : {10, 12})
    is_right = measure_apart("membership:radix=4,views=whole", 1 << levels) && is_right;
  for (const int levels : {10, 12, 15, 20})
    is_right = measure_apart("membership:radix=4,views=local", 1 << levels) && is_right;
  for (const int levels : {10, 12, 15, 20})
    is_right = measure_apart("membership:radix=4,views=local", 1 << levels, true) && is_right;
  return is_right ? 0 : 1;
}
