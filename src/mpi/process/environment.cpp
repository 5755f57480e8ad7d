#include "mpi/process/environment.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace resprout::shim {
namespace {

constexpr std::string_view prefix = "RESPROUT_";
// Whose variables these are; resprout_start has set it (src/launcher/start).
constexpr const char* process_name = "RESPROUT_PROCESS";
// Programs ask in which plane they are (docs/how-to/replication.md), and in which life
// (docs/how-to/restart.md): these stay.
constexpr const char* number_of_plane = "RESPROUT_REPLICA";
constexpr const char* number_of_life = "RESPROUT_RESTART";
// By this the launcher of several planes knows what a plane's ranks have started.
constexpr const char* mark_of_plane = "PLANE_OF_RESPROUT_RUN";

struct Taken {
  std::vector<std::string> entries;
  std::vector<char*> pointers;
};

std::string value_of(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// As resprout_start has it.
std::string own_name() {
  if (getenv("PMIX_NAMESPACE") == nullptr)
    return value_of("PMI_JOBID") + "." + value_of("PMI_RANK");
  return value_of("PMIX_NAMESPACE") + "." + value_of("PMIX_RANK");
}

void stop_preloading() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&take_environment), &own) == 0) return;
  const std::string before = value_of("LD_PRELOAD");
  std::string after;
  // The loader takes both for separators.
  for (std::size_t begin = 0; begin < before.size();) {
    const std::size_t end = std::min(before.find_first_of(": ", begin), before.size());
    const std::string_view name = std::string_view(before).substr(begin, end - begin);
    if (!name.empty() && name != own.dli_fname) {
      if (!after.empty()) after += ':';
      after += name;
    }
    begin = end + 1;
  }
  if (after == before) return;
  after.empty() ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", after.c_str(), 1);
}

Taken* take() {
  auto* taken = new Taken;
  is_of_other_job();  // while it can be seen
  std::vector<std::string> names;
  for (char** it = environ; *it != nullptr; ++it) {
    const std::string_view entry = *it;
    if (!entry.starts_with(prefix)) continue;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name != process_name) taken->entries.emplace_back(entry);
    if (name != number_of_plane && name != number_of_life) names.emplace_back(name);
  }
  const std::string directory = value_of("RESPROUT_RUN_DIR");
  if (getenv(number_of_plane) != nullptr) setenv(mark_of_plane, directory.c_str(), 1);
  for (const std::string& name : names) unsetenv(name.c_str());
  stop_preloading();
  for (std::string& entry : taken->entries) taken->pointers.push_back(entry.data());
  taken->pointers.push_back(nullptr);
  return taken;
}

// Never destroyed.
Taken& taken() {
  static Taken* const instance = take();
  return *instance;
}

}  // namespace

char** take_environment() { return taken().pointers.data(); }

bool is_of_other_job() {
  static const bool is_other = [] {
    const std::string process = value_of(process_name);
    return !process.empty() && process != own_name();
  }();
  return is_other;
}

}  // namespace resprout::shim
