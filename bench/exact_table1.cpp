// Table 1 of Corrected Trees at its own size: four trees, five fault rates, 10^5 broadcasts of
// 65536 processes each, L=2, o=1, synchronized checked correction. Prints the table and what it
// costs.
//
// usage: exact_table1 [BROADCASTS [THREADS]]: of each tree and rate; by default 100000, and 2.
// The table is the same for any number of threads. Broadcast i of tree t and rate r has the seed
// (5t + r) * BROADCASTS + i, as in: resprout sim SPEC --procs 65536 --faults R% --seed SEED
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "sim/exact/exact_broadcast.hpp"

namespace {

using namespace resprout;

constexpr std::int32_t procs = 65536;
constexpr const char* specs[] = {
    "corrected-tree:tree=binomial,correction=checked,start=synchronized",
    "corrected-tree:tree=kary,k=4,correction=checked,start=synchronized",
    "corrected-tree:tree=lame,k=2,correction=checked,start=synchronized",
    "corrected-tree:tree=optimal,correction=checked,start=synchronized"};
constexpr double percents[] = {0.01, 0.1, 1, 2, 4};

// How often each value was seen.
class Histogram {
 public:
  void add(std::int64_t value) { at(value)++; }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
      at(static_cast<std::int64_t>(i)) += other.counts_[i];
  }
  // The least value that so many of a thousand are not above.
  std::int64_t percentile(std::int64_t of_thousand) const {
    std::int64_t total = 0;
    for (const std::int64_t count : counts_) total += count;
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen * 1000 >= total * of_thousand) return static_cast<std::int64_t>(i);
    }
    return -1;
  }

 private:
  std::int64_t& at(std::int64_t value) {
    const auto i = static_cast<std::size_t>(value);
    if (i >= counts_.size()) counts_.resize(i + 1);
    return counts_[i];
  }
  std::vector<std::int64_t> counts_;
};

struct Row {
  Histogram g_max;
  Histogram correction;  // L_SCC
  std::int64_t uncolored = 0;
  double seconds = 0;  // of processor time
};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Every `threads`-th broadcast of each tree and rate, from `first` on.
std::vector<Row> run(std::int64_t broadcasts, std::int64_t first, std::int64_t threads) {
  std::vector<Row> rows(std::size(percents));
  sim::FaultDraw faults(procs, rank_at(0));
  for (std::size_t tree = 0; tree < std::size(specs); ++tree) {
    const auto exact =
        sim::ExactBroadcast::make({std::get<registry::Spec>(registry::parse(specs[tree])), procs});
    for (std::size_t rate = 0; rate < rows.size(); ++rate) {
      const double begin = thread_seconds();
      const std::int64_t count = std::llround(percents[rate] * procs / 100);
      const std::int64_t seed = static_cast<std::int64_t>(5 * tree + rate) * broadcasts;
      for (std::int64_t i = first; i < broadcasts; i += threads) {
        const sim::Result result =
            exact->run(faults.draw(count, static_cast<std::uint64_t>(seed + i)));
        rows[rate].g_max.add(*result.g_max);
        rows[rate].correction.add(result.totals.quiescence - *result.correction_start);
        rows[rate].uncolored += result.uncolored;
      }
      rows[rate].seconds += thread_seconds() - begin;
    }
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t broadcasts = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 100000;
  const std::int64_t count = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 2;
  if (broadcasts < 1 || count < 1) {
    std::fprintf(stderr, "usage: exact_table1 [BROADCASTS [THREADS]]\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::vector<Row>> parts(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < count; ++i)
    threads.emplace_back(
        [&, i] { parts[static_cast<std::size_t>(i)] = run(broadcasts, i, count); });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

  std::printf("  F %%   g_max 99 / 99.9 / max   L_SCC 99 / 99.9 / max   us a broadcast\n");
  double used = 0;
  for (std::size_t rate = 0; rate < std::size(percents); ++rate) {
    Row row;
    for (const auto& part : parts) {
      row.g_max.add(part[rate].g_max);
      row.correction.add(part[rate].correction);
      row.uncolored += part[rate].uncolored;
      row.seconds += part[rate].seconds;
    }
    std::printf("%5.2f %9lld %6lld %5lld %10lld %6lld %5lld %15.1f\n", percents[rate],
                static_cast<long long>(row.g_max.percentile(990)),
                static_cast<long long>(row.g_max.percentile(999)),
                static_cast<long long>(row.g_max.percentile(1000)),
                static_cast<long long>(row.correction.percentile(990)),
                static_cast<long long>(row.correction.percentile(999)),
                static_cast<long long>(row.correction.percentile(1000)),
                row.seconds * 1e6 / static_cast<double>(4 * broadcasts));
    if (row.uncolored != 0) std::printf("%lld uncolored\n", static_cast<long long>(row.uncolored));
    used += row.seconds;
  }
  std::printf("%lld broadcasts in %.1f s (%.1f s of processor time), %lld threads\n",
              static_cast<long long>(20 * broadcasts), wall.count(), used,
              static_cast<long long>(count));
}
