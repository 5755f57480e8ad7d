// What is preloaded into Open MPI's launcher and its daemons, so that a job outlives the loss of a
// host, and that it is known how processes on other hosts ended.
//
// The launcher ends a job when it loses its daemon on one of the job's hosts. Here it hears instead
// that the processes there were killed, which a job survives; and the daemon is taken out of the
// tree over which it speaks with the others, so that what all of them have to say does not wait for
// it.
//
// Daemons tell the launcher of a process that a signal ended, but of one that exits only when all
// of their host have ended. From ours (daemon.hpp) it also hears at once of those that exit without
// MPI_Finalize; to the launcher itself that is no reason to end the job.
//
// A job that is started again after a loss (RESPROUT_ON_LOSS=restart) ends with its host, as with
// any of its processes. There `resprout run` learns which host it was, by a file lost-host-NAME in
// the run directory, and says itself who was lost.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "launcher/daemon.hpp"
#include "launcher/ends.hpp"
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

// One of this process. `hears_of_hosts`: the job goes on without a lost one, or is started again.
class Launcher {
 public:
  Launcher(const Prrte& prrte, bool hears_of_hosts)
      : prrte_(prrte), hears_of_hosts_(hears_of_hosts) {}

  bool knows_all_states() const {
    for (const State state : {begins_, all_have_come_, over_, ended_, killed_, exited_})
      if (state == 0) return false;
    return gone_[0] != 0;
  }
  bool can_lose_a_host() const {
    return hears_of_hosts_ && hosts_.can_lose_one() && !prrte_.is_ending();
  }

  void job_is(void* job, State state) {
    if (state == begins_) hosts_.note_launch(job);
    // Whatever ends it: nobody comes any more.
    if (state == all_have_come_ || state >= over_) hosts_.note_arrival_of_all(job);
    prrte_.job_is(job, state);
  }

  void process_is(Prrte::Process* process, State state) {
    const std::uint32_t job = process->job_number();
    const bool is_other_daemon = job == 0 && process->rank != 0;
    if (hears_of_hosts_ && is_other_daemon && says_it_is_gone(state)) {
      const auto host = prrte_.host_of(*process);
      if (host && !prrte_.is_ending() && is_started_again()) note_lost(*host);
      if (goes_on_without(*process)) return;
    }
    if (job == 1 && is_told(*process, state)) {
      leave_end_of_rank(process->rank, exit_code_, state == killed_);
      if (state == exited_) return;  // it hears of it again, when all of that host have ended
    }
    if (job != 0 && state == ended_) hosts_.note_end({job, process->rank});
    prrte_.process_is(process, state);
  }

  // What it unpacks of messages, in their order. Of a process that has changed its state a daemon
  // says its rank, process id, state and exit code.
  void note_unpacked(const void* value, std::uint16_t type) {
    constexpr std::uint16_t int32 = 9, uint32 = 14, rank = 40;  // those of PMIx, which are fixed
    if (type == rank)
      told_ = {copied<std::uint32_t>(value), 0};
    else if (type == uint32)
      told_.second = copied<State>(value);
    else if (type == int32)
      exit_code_ = copied<std::int32_t>(value);
  }

 private:
  template <typename T>
  static T copied(const void* value) {
    T copy;
    std::memcpy(&copy, value, sizeof copy);
    return copy;
  }
  // Whether a daemon has just said so, and it is an end.
  bool is_told(const Prrte::Process& process, State state) {
    const bool is_an_end = state == killed_ || state == exited_ || state == unannounced_;
    const bool is_it = is_an_end && told_ == std::pair{process.rank, state};
    told_ = {};
    return is_it;
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
  const bool hears_of_hosts_;
  std::pair<std::uint32_t, State> told_{};
  std::int32_t exit_code_ = 0;
  std::string name_;  // of all its jobs, without their numbers
  const State begins_ = prrte_.job_state("PENDING MAPPING");
  const State all_have_come_ = prrte_.job_state("SYNC REGISTERED");
  const State over_ = prrte_.job_state("NORMALLY TERMINATED");
  const State ended_ = prrte_.process_state("NORMALLY TERMINATED");
  const State killed_ = prrte_.process_state("ABORTED BY SIGNAL");
  const State exited_ = prrte_.process_state("EXITED WITH NON-ZERO STATUS");
  const State unannounced_ = prrte_.process_state("TERMINATED WITHOUT SYNC");
  // How it says that a daemon is gone: its connection, or what had started it, has ended.
  const State gone_[4] = {
      prrte_.process_state("COMMUNICATION FAILURE"), prrte_.process_state("FAILED TO START"),
      prrte_.process_state("HEARTBEAT FAILED"), prrte_.process_state("UNABLE TO SEND MSG")};
  Hosts hosts_{[this](Process process) { return prrte_.host_of(named(process)); }};
};

// As long as the process lives. One of them at most is there.
Launcher* launcher = nullptr;
Daemon* own_daemon = nullptr;

// The job has several hosts; and is to go on without one of them.
bool may_have_other_hosts = false;
bool is_to_outlive_hosts = false;

bool is_daemon() { return std::strcmp(program_invocation_short_name, "prted") == 0; }

bool hook_daemon(const Prrte& prrte) {
  own_daemon = new Daemon(prrte);
  return own_daemon->knows_all_states() &&
         prrte.replace([](Prrte::Process* process, Prrte::State state) {
           own_daemon->process_is(process, state);
         });
}

bool hook_launcher(const Prrte& prrte) {
  launcher = new Launcher(prrte, is_to_outlive_hosts || is_started_again());
  return launcher->knows_all_states() &&
         prrte.replace([](void* job, State state) { launcher->job_is(job, state); }) &&
         prrte.replace(
             [](Prrte::Process* process, State state) { launcher->process_is(process, state); });
}

// What the launcher starts is not ours to look at. We come last in the list of what is preloaded: a
// sanitizer's runtime that the user has there wants to come first.
__attribute__((constructor)) void leave_the_environment() {
  // mpirun, which is about to become the launcher, or `env`, which becomes a daemon
  if (!Prrte::find()) return;
  constexpr const char* outlive_hosts = "RESPROUT_OUTLIVE_HOSTS";
  constexpr const char* other_hosts = "RESPROUT_OTHER_HOSTS";
  is_to_outlive_hosts = std::getenv(outlive_hosts) != nullptr;
  may_have_other_hosts = std::getenv(other_hosts) != nullptr;
  unsetenv(outlive_hosts);
  unsetenv(other_hosts);
  if (is_daemon()) unsetenv("RESPROUT_RUN_DIR");  // the ranks there have one that mpirun gives them
  const char* list = std::getenv("LD_PRELOAD");
  const char* others_end = list != nullptr ? std::strrchr(list, ':') : nullptr;
  if (others_end != nullptr)
    setenv("LD_PRELOAD", std::string(list, others_end).c_str(), 1);
  else
    unsetenv("LD_PRELOAD");
}

}  // namespace
}  // namespace resprout::launcher

using resprout::launcher::is_daemon;
using resprout::launcher::launcher;
using resprout::launcher::may_have_other_hosts;
using resprout::launcher::own_daemon;
using resprout::launcher::Prrte;

// When the launcher calls this it has its state machine.
RESPROUT_EXPORT int prte_errmgr_base_select() {
  using namespace resprout::launcher;
  const auto theirs = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "prte_errmgr_base_select"));
  const int status = theirs();
  const auto prrte = Prrte::find();
  const bool is_told_of_hosts = is_to_outlive_hosts || may_have_other_hosts || is_started_again();
  if (!is_told_of_hosts || !prrte || launcher != nullptr || own_daemon != nullptr) return status;
  const bool is_known = is_daemon() ? hook_daemon(*prrte) : hook_launcher(*prrte);
  if (!is_known && !is_daemon())
    std::fputs(
        "resprout: this mpirun is another one than those of Open MPI 5.0: it will end the job when "
        "it loses a host\n",
        stderr);
  return status;
}

// The daemon's functions that PMIx calls: the second one, when a process leaves in MPI_Finalize.
RESPROUT_EXPORT int PMIx_server_init(void** functions, void* values, std::size_t count) {
  using Init = int (*)(void**, void*, std::size_t);
  using Leaves = int (*)(const Prrte::Process*, void*, void*, void*);
  static const auto theirs = reinterpret_cast<Init>(dlsym(RTLD_NEXT, "PMIx_server_init"));
  static Leaves their_leaves = nullptr;
  if (is_daemon() && may_have_other_hosts && functions != nullptr && functions[1] != nullptr) {
    their_leaves = reinterpret_cast<Leaves>(functions[1]);
    functions[1] = reinterpret_cast<void*>(
        +[](const Prrte::Process* process, void* object, void* then, void* value) {
          if (own_daemon != nullptr) own_daemon->note_leaving(*process);
          return their_leaves(process, object, then, value);
        });
  }
  return theirs(functions, values, count);
}

// How it reads what daemons say.
RESPROUT_EXPORT int PMIx_Data_unpack(const void* from, void* buffer, void* values,
                                     std::int32_t* count, std::uint16_t type) {
  using Unpack = int (*)(const void*, void*, void*, std::int32_t*, std::uint16_t);
  static const auto theirs = reinterpret_cast<Unpack>(dlsym(RTLD_NEXT, "PMIx_Data_unpack"));
  const int status = theirs(from, buffer, values, count, type);
  if (status == 0 && launcher != nullptr && *count == 1) launcher->note_unpacked(values, type);
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
