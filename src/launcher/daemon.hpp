// A daemon of Open MPI's launcher, on another host: has the launcher hear at once of a process that
// exits before it has said in MPI_Finalize that it is leaving.
//
// Others may wait for it in MPI_Init. Of such an exit the daemon would say nothing until all
// processes of its host have ended; so it is one that it has to report, whatever its status is.
// Thread rule: that of the daemon's event loop, but for note_leaving.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "launcher/prrte.hpp"

namespace resprout::launcher {

class Daemon {
 public:
  explicit Daemon(const Prrte& prrte) : prrte_(prrte) {}

  bool knows_all_states() const { return exited_ != 0 && reported_ != 0; }

  // From any thread; before the process goes on.
  void note_leaving(const Prrte::Process& process) {
    const std::lock_guard lock(mutex_);
    leaving_.insert(name_of(process));
  }

  void process_is(Prrte::Process* process, Prrte::State state) {
    if (state == exited_ && process->job_number() != 0 && !is_leaving(*process)) state = reported_;
    prrte_.process_is(process, state);
  }

 private:
  using Name = std::pair<std::string, std::uint32_t>;

  static Name name_of(const Prrte::Process& process) { return {process.job, process.rank}; }
  bool is_leaving(const Prrte::Process& process) {
    const std::lock_guard lock(mutex_);
    return leaving_.count(name_of(process)) != 0;
  }

  const Prrte prrte_;
  std::mutex mutex_;
  std::set<Name> leaving_;
  const Prrte::State exited_ = prrte_.process_state("WAITPID FIRED");
  const Prrte::State reported_ = prrte_.process_state("EXITED WITH NON-ZERO STATUS");
};

}  // namespace resprout::launcher
