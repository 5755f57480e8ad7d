// The hosts of an MPI job, as its launcher sees them: who is on them, and when one can be lost.
//
// As soon as every process of every job has come to its launcher, in MPI_Init: until then all wait
// for what the lost would have said. A host's processes count as killed then, each one once. Thread
// rule: none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace resprout::launcher {

// By job, counted from 1 (those after the first are what MPI_Comm_spawn starts), and rank.
using Process = std::pair<std::uint32_t, std::uint32_t>;

class Hosts {
 public:
  // The name of the host on which a process was started, or nothing: there is no such process.
  using HostOf = std::function<std::optional<std::string>(Process)>;

  explicit Hosts(HostOf host_of) : host_of_(std::move(host_of)) {}

  // `job`: anything that tells jobs that are there at one time apart.
  void note_launch(const void* job) {
    ++jobs_;
    coming_.insert(job);
  }
  void note_arrival_of_all(const void* job) { coming_.erase(job); }
  void note_end(Process process) { ended_.insert(process); }

  bool is_lost(const std::string& host) const { return lost_.count(host) != 0; }
  bool can_lose_one() const { return jobs_ > 0 && coming_.empty(); }
  // The host's processes that had not ended: they have now.
  std::vector<Process> lose(const std::string& host) {
    lost_.insert(host);
    std::vector<Process> gone;
    Process next;
    for (next.first = 1; next.first <= jobs_; ++next.first) {
      next.second = 0;
      for (; const auto on = host_of_(next); ++next.second)
        if (*on == host && ended_.insert(next).second) gone.push_back(next);
    }
    return gone;
  }

 private:
  HostOf host_of_;
  std::uint32_t jobs_ = 0;  // launched so far
  std::set<const void*> coming_;
  std::set<Process> ended_;
  std::set<std::string> lost_;
};

}  // namespace resprout::launcher
