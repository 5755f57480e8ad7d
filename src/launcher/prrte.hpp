// What we use of PRRTE, the launcher inside of Open MPI 5's mpirun and of its daemons: by name, so
// that nothing of it is needed to build, and a launcher that has other names is left alone. Thread
// rule: its event loop's; nothing here is called from another thread.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace resprout::launcher {

class Prrte {
 public:
  // pmix_proc_t, part of PMIx's stable interface.
  struct Process {
    char job[256];  // NAME@NUMBER; 0 is that of the daemons, in which the launcher is the first
    std::uint32_t rank;

    // 0: that of the daemons. A job without a number is none of ours.
    std::uint32_t job_number() const {
      const char* number = std::strrchr(job, '@');
      return number != nullptr ? static_cast<std::uint32_t>(std::strtoul(number + 1, nullptr, 10))
                               : std::numeric_limits<std::uint32_t>::max();
    }
  };
  using State = std::uint32_t;
  using OfJob = void (*)(void* job, State);
  using OfProcess = void (*)(Process*, State);

  // Nothing: this is no such launcher.
  static std::optional<Prrte> find() {
    Prrte found;
    const bool is_whole = symbol(found.state_machine_, "prte_state") &&
                          symbol(found.job_is_, "prte_state_base_activate_job_state") &&
                          symbol(found.process_is_, "prte_state_base_activate_proc_state") &&
                          symbol(found.job_word_, "prte_job_state_to_str") &&
                          symbol(found.process_word_, "prte_proc_state_to_str") &&
                          symbol(found.host_of_, "prte_get_proc_hostname") &&
                          symbol(found.lose_route_, "prte_rml_route_lost") &&
                          symbol(found.is_ending_, "prte_prteds_term_ordered");
    if (!is_whole) return std::nullopt;
    return found;
  }

  // From here on this is called whenever something changes its state. Whether it is.
  bool replace(OfJob of_job) const { return replace(job_is_, of_job); }
  bool replace(OfProcess of_process) const { return replace(process_is_, of_process); }
  void job_is(void* job, State state) const { job_is_(job, state); }
  void process_is(Process* process, State state) const { process_is_(process, state); }

  // The number of a state; 0, which is none's, if this launcher has no state of that name.
  State job_state(std::string_view name) const { return number_of(name, job_word_); }
  State process_state(std::string_view name) const { return number_of(name, process_word_); }

  std::optional<std::string> host_of(const Process& process) const {
    const char* name = host_of_(&process);
    return name != nullptr ? std::optional<std::string>(name) : std::nullopt;
  }
  // Nothing is sent by way of this daemon any more, and nothing is expected from it.
  void lose_route(std::uint32_t daemon) const { lose_route_(daemon); }
  // The daemons have been told to end.
  bool is_ending() const { return *is_ending_; }

 private:
  template <typename T>
  static bool symbol(T& place, const char* name) {
    place = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
    return place != nullptr;
  }
  template <typename Function>
  bool replace(Function theirs, Function ours) const {
    constexpr int functions = 10;  // in the table
    for (int i = 0; i < functions; ++i) {
      if (state_machine_[i] != reinterpret_cast<void*>(theirs)) continue;
      state_machine_[i] = reinterpret_cast<void*>(ours);
      return true;
    }
    return false;
  }
  using Word = const char* (*)(State);
  static State number_of(std::string_view name, Word word) {
    constexpr State bound = 128;
    for (State state = 1; state < bound; ++state)
      if (name == word(state)) return state;
    return 0;
  }

  void** state_machine_ = nullptr;
  OfJob job_is_ = nullptr;
  OfProcess process_is_ = nullptr;
  Word job_word_ = nullptr;
  Word process_word_ = nullptr;
  char* (*host_of_)(const Process*) = nullptr;
  void (*lose_route_)(std::uint32_t) = nullptr;
  const bool* is_ending_ = nullptr;
};

}  // namespace resprout::launcher
