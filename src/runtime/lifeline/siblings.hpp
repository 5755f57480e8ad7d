// Watches the other processes of this host: a death is an event on the pidfd, a hang is a heartbeat
// that stands still on the status page.
//
// Who hangs is ended before it counts as lost, because launchers wait for a stopped process for
// ever: at once if it is stopped, after a long grace if it merely gets no processor (longer still
// if the watcher gets none either: one host starves both). The first watcher writes its name on
// the victim's page, so that all others learn why it died.
//
// Thread rule: the lifeline's thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocols/failure_detector/local_health.hpp"
#include "protocols/failure_detector/silence.hpp"
#include "runtime/death_marks/process.hpp"
#include "runtime/lifeline/findings.hpp"
#include "runtime/lifeline/status_page.hpp"
#include "runtime/net/poller.hpp"

namespace resprout::runtime {

class Siblings {
 public:
  // Descriptors are added to `poller` under first_key + rank.
  Siblings(const LifelineOptions& options, const protocols::LocalHealth& health, Findings& findings,
           Poller& poller, const DeathMarks& death_marks, std::uint64_t first_key)
      : options_(options),
        health_(health),
        findings_(findings),
        poller_(poller),
        death_marks_(death_marks),
        first_key_(first_key) {}

  // Throws std::system_error if a living sibling cannot be watched.
  void start(std::span<const PeerAddress> peers, std::int64_t now);
  // The pidfd of `rank` is readable.
  void handle_death(int rank);
  // Looks at all pages; call once per heartbeat period. `starved_ns` is the time that this process
  // could not run before.
  void handle_time(std::int64_t now, std::int64_t starved_ns);
  // There is reason to look at `rank` now.
  void look_at(int rank, std::int64_t seen_ns);
  // Finds the siblings that have died by now, also those whose events are still to come.
  void look_at_death_marks();
  // Others have declared `rank` lost. It ends by itself when it learns so; if it is stopped it
  // cannot.
  void fence(int rank);
  // `rank` is no longer alive: nothing more of it is of interest.
  void forget(int rank);

  bool contains(int rank) { return find(rank) != nullptr; }

 private:
  struct Sibling {
    int rank;
    pid_t pid;
    std::uint64_t start_time;
    Fd pidfd;
    StatusPage page;
    std::uint64_t heartbeat = 0;
    protocols::Silence silence = {};
  };

  std::vector<int> ranks() const;
  Sibling* find(int rank);
  static bool has_ended(const Sibling& sibling);
  void report_end(const Sibling& sibling, std::int64_t detected_ns);
  void maybe_end(Sibling& sibling, std::int64_t now);

  const LifelineOptions& options_;
  const protocols::LocalHealth& health_;
  Findings& findings_;
  Poller& poller_;
  const DeathMarks& death_marks_;
  const std::uint64_t first_key_;
  std::vector<Sibling> siblings_;
};

}  // namespace resprout::runtime
