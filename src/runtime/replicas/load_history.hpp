// How much waited for a verdict over time, in one process: means over intervals of equal length.
//
// There are never more than intervals_max of them: when time goes on beyond the last one, each two
// become one. So a run of a day takes no more memory than one of a second.
//
// Lazy Fault Detection for Redundant MPI, section 5.2, Figure 5.5.
// Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace resprout::runtime {

class LoadHistory {
 public:
  static constexpr std::size_t intervals_max = 128;  // an even number
  static constexpr std::int64_t shortest_ns = 10'000'000;

  struct Load {
    double open = 0;   // requests
    double bytes = 0;  // of copies
  };

  // From now on, until the next note, there is so much. `now_ns` never goes back.
  void note(std::int64_t now_ns, Load load) {
    if (now_ns != last_ns_) [[unlikely]]
      advance(now_ns);
    load_ = load;
  }

  struct Means {
    std::int64_t interval_ns = shortest_ns;  // a power of two of the shortest
    std::vector<Load> of;                    // from the first note on; the last may be shorter
  };
  // Until the last note.
  Means means() const;

 private:
  void advance(std::int64_t now_ns);
  void add(std::int64_t duration_ns, std::size_t interval);
  void halve();

  std::int64_t began_ns_ = -1;
  std::int64_t last_ns_ = -1;
  std::int64_t interval_ns_ = shortest_ns;
  Load load_;
  std::vector<Load> sums_;  // times nanoseconds
};

}  // namespace resprout::runtime
