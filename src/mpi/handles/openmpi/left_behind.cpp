#include "mpi/handles/openmpi/left_behind.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace resprout::shim {
namespace {

// The part of `text` behind its last dot, which is cut off with that.
std::string_view cut_last(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = text.substr(dot + 1);
  text.remove_suffix(text.size() - dot);
  return last;
}

std::string own_maps() {
  std::ostringstream text;
  text << std::ifstream("/proc/self/maps").rdbuf();
  return text.str();
}

}  // namespace

// sm_segment.<host>.<user>.<job>.<number>
std::optional<JobNames> job_names_in(std::string_view maps) {
  constexpr std::string_view before = "/sm_segment.";
  const std::size_t at = maps.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view name = maps.substr(at + before.size());
  name = name.substr(0, name.find_first_of(" \n"));
  cut_last(name);
  const std::string job(cut_last(name));
  cut_last(name);
  if (name.empty() || job.empty()) return std::nullopt;
  return JobNames{std::string(name), job};
}

// osc_sm.<host>.<job>.<rank>.<communicator>
void remove_window_files(const std::string& folder, const JobNames& names,
                         const std::vector<int>& world_ranks) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    const bool is_theirs = std::any_of(world_ranks.begin(), world_ranks.end(), [&](int rank) {
      return name.starts_with("osc_sm." + names.host + "." + names.job + "." +
                              std::to_string(rank) + ".");
    });
    if (is_theirs) std::filesystem::remove(entry.path(), ignored);
  }
}

// One who is wrongly taken for lost and still runs does not miss its file either: nobody of its
// communicator makes windows any more.
void remove_left_behind(const World& world) {
  if (world.lost_count() == 0) return;
  std::vector<int> dead;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (rank == world.rank() || !world.is_on_own_host(rank)) continue;
    if (!world.is_lost(rank) && rank < world.rank()) return;
    if (world.is_lost(rank)) dead.push_back(rank);
  }
  const auto names = dead.empty() ? std::nullopt : job_names_in(own_maps());
  if (names) remove_window_files("/dev/shm", *names, dead);
}

}  // namespace resprout::shim
