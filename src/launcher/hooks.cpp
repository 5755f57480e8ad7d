// What is preloaded into Open MPI's launcher, so that a job outlives the loss of a host.
//
// The launcher ends a job when it loses its daemon on one of the job's hosts. Here it hears instead
// that the processes there were killed, which a job survives; and the daemon is taken out of the
// tree over which it speaks with the others, so that what all of them have to say does not wait for
// it.
//
// A job that is started again after a loss (RESPROUT_ON_LOSS=restart) ends with its host, as with
// any of its processes. There `resprout run` learns which host it was, by a file lost-host-NAME in
// the run directory, and says itself who was lost.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "launcher/hosts.hpp"
#include "launcher/prrte.hpp"

#define RESPROUT_EXPORT extern "C" __attribute__((visibility("default")))

namespace resprout::launcher {
namespace {

using State = Prrte::State;

bool is_started_again() {
  const char* on_loss = std::getenv("RESPROUT_ON_LOSS");
  return on_loss != nullptr && std::strcmp(on_loss, "restart") == 0;
}

void note_lost(const std::string& host) {
  const char* directory = std::getenv("RESPROUT_RUN_DIR");
  if (directory == nullptr) return;
  const std::string path = std::string(directory) + "/lost-host-" + host;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

// One of this process.
class Launcher {
 public:
  explicit Launcher(const Prrte& prrte) : prrte_(prrte) {}

  bool knows_all_states() const {
    for (const State state : {begins_, all_have_come_, over_, ended_, killed_})
      if (state == 0) return false;
    return gone_[0] != 0;
  }
  bool can_lose_a_host() const { return hosts_.can_lose_one() && !prrte_.is_ending(); }

  void job_is(void* job, State state) {
    if (state == begins_) hosts_.note_launch(job);
    // Whatever ends it: nobody comes any more.
    if (state == all_have_come_ || state >= over_) hosts_.note_arrival_of_all(job);
    prrte_.job_is(job, state);
  }

  void process_is(Prrte::Process* process, State state) {
    const std::uint32_t job = job_of(*process);
    const bool is_other_daemon = job == 0 && process->rank != 0;
    if (is_other_daemon && says_it_is_gone(state)) {
      const auto host = prrte_.host_of(*process);
      if (host && !prrte_.is_ending() && is_started_again()) note_lost(*host);
      if (goes_on_without(*process)) return;
    }
    if (job != 0 && state == ended_) hosts_.note_end({job, process->rank});
    prrte_.process_is(process, state);
  }

 private:
  // 0: that of the daemons. A job without a number is none of ours.
  static std::uint32_t job_of(const Prrte::Process& process) {
    const char* number = std::strrchr(process.job, '@');
    return number != nullptr ? static_cast<std::uint32_t>(std::strtoul(number + 1, nullptr, 10))
                             : std::numeric_limits<std::uint32_t>::max();
  }
  Prrte::Process named(Process process) const {
    Prrte::Process named{};
    std::snprintf(named.job, sizeof named.job, "%s@%u", name_.c_str(), process.first);
    named.rank = process.second;
    return named;
  }
  bool says_it_is_gone(State state) const {
    for (const State one : gone_)
      if (state == one) return true;
    return false;
  }

  // Whether the launcher is to hear nothing of it.
  bool goes_on_without(const Prrte::Process& daemon) {
    const auto host = prrte_.host_of(daemon);
    if (!host || prrte_.is_ending()) return false;
    if (hosts_.is_lost(*host)) return true;
    if (!hosts_.can_lose_one()) return false;
    name_.assign(daemon.job, std::strrchr(daemon.job, '@'));
    prrte_.lose_route(daemon.rank);
    std::string ranks;
    for (const Process& process : hosts_.lose(*host)) {
      ranks += (ranks.empty() ? "with ranks " : ", ") + std::to_string(process.second);
      Prrte::Process victim = named(process);
      prrte_.process_is(&victim, killed_);
    }
    if (is_started_again()) return true;
    if (ranks.empty()) ranks = "where no rank was left";
    std::fprintf(stderr, "resprout: host %s is lost, %s; going on without it\n", host->c_str(),
                 ranks.c_str());
    return true;
  }

  const Prrte prrte_;
  std::string name_;  // of all its jobs, without their numbers
  const State begins_ = prrte_.job_state("PENDING MAPPING");
  const State all_have_come_ = prrte_.job_state("SYNC REGISTERED");
  const State over_ = prrte_.job_state("NORMALLY TERMINATED");
  const State ended_ = prrte_.process_state("NORMALLY TERMINATED");
  const State killed_ = prrte_.process_state("ABORTED BY SIGNAL");
  // How it says that a daemon is gone: its connection, or what had started it, has ended.
  const State gone_[4] = {
      prrte_.process_state("COMMUNICATION FAILURE"), prrte_.process_state("FAILED TO START"),
      prrte_.process_state("HEARTBEAT FAILED"), prrte_.process_state("UNABLE TO SEND MSG")};
  Hosts hosts_{[this](Process process) { return prrte_.host_of(named(process)); }};
};

Launcher* launcher = nullptr;  // as long as the process lives

// The job has several hosts, and is to go on without one of them.
bool is_to_outlive_hosts = false;

// What the launcher starts is not ours to look at. We come last in the list of what is preloaded: a
// sanitizer's runtime that the user has there wants to come first.
__attribute__((constructor)) void leave_the_environment() {
  if (!Prrte::find()) return;  // mpirun, which is about to become the launcher
  constexpr const char* outlive_hosts = "RESPROUT_OUTLIVE_HOSTS";
  is_to_outlive_hosts = std::getenv(outlive_hosts) != nullptr;
  unsetenv(outlive_hosts);
  const char* list = std::getenv("LD_PRELOAD");
  const char* others_end = list != nullptr ? std::strrchr(list, ':') : nullptr;
  if (others_end != nullptr)
    setenv("LD_PRELOAD", std::string(list, others_end).c_str(), 1);
  else
    unsetenv("LD_PRELOAD");
}

}  // namespace
}  // namespace resprout::launcher

// When the launcher calls this it has its state machine.
RESPROUT_EXPORT int prte_errmgr_base_select() {
  using namespace resprout::launcher;
  const auto theirs = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "prte_errmgr_base_select"));
  const int status = theirs();
  const auto prrte = Prrte::find();
  const bool is_told_of_hosts = is_to_outlive_hosts || is_started_again();
  if (!is_told_of_hosts || !prrte || launcher != nullptr) return status;
  launcher = new Launcher(*prrte);
  const bool is_known = launcher->knows_all_states() &&
                        prrte->replace([](void* job, State state) { launcher->job_is(job, state); },
                                       [](Prrte::Process* process, State state) {
                                         launcher->process_is(process, state);
                                       });
  if (!is_known)
    std::fputs(
        "resprout: this mpirun is another one than those of Open MPI 5.0: it will end the job when "
        "it loses a host\n",
        stderr);
  return status;
}

// The launcher's own words about a process that was killed; null: none. `resprout run` has better
// ones for a job that is started again.
RESPROUT_EXPORT char* prte_dump_aborted_procs(void* job) {
  if (resprout::launcher::is_started_again()) return nullptr;
  static const auto theirs =
      reinterpret_cast<char* (*)(void*)>(dlsym(RTLD_NEXT, "prte_dump_aborted_procs"));
  return theirs(job);
}

// Among the program's output the launcher says that a daemon failed to report back when the remote
// shell that had started it ends. We say what became of the host.
RESPROUT_EXPORT void pmix_output(int stream, const char* format, ...) {
  using resprout::launcher::launcher;
  static const auto theirs =
      reinterpret_cast<void (*)(int, const char*, ...)>(dlsym(RTLD_NEXT, "pmix_output"));
  const bool is_of_a_daemon = std::strstr(format, "A daemon failed to report back") != nullptr;
  if (is_of_a_daemon && launcher != nullptr && launcher->can_lose_a_host()) return;
  std::va_list values;
  va_start(values, format);
  char* text = nullptr;
  if (vasprintf(&text, format, values) >= 0) theirs(stream, "%s", text);
  std::free(text);
  va_end(values);
}
