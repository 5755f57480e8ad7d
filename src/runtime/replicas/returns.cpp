#include "runtime/replicas/returns.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace resprout::runtime {
namespace {

using std::filesystem::path;

constexpr std::string_view prefix = "return-";

// 0: it is none.
std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

bool is_there(const std::string& folder, const char* what, std::int32_t plane) {
  return access((folder + "/" + what + std::to_string(plane)).c_str(), F_OK) == 0;
}

// Whole or not at all.
void write(const std::string& file, const std::string& text) {
  const std::string draft = file + ".part";
  const bool is_written = static_cast<bool>(std::ofstream(draft) << text << std::flush);
  if (!is_written || std::rename(draft.c_str(), file.c_str()) != 0) unlink(draft.c_str());
}

}  // namespace

std::string job_of_discovery(const std::string& discovery) {
  return return_of_discovery(discovery) == 0 ? discovery : path(discovery).parent_path().string();
}

std::uint64_t return_of_discovery(const std::string& discovery) {
  const std::string name = path(discovery).filename().string();
  return name.starts_with(prefix) ? number_in(std::string_view(name).substr(prefix.size())) : 0;
}

std::string discovery_of_return(const std::string& job, std::uint64_t number) {
  return (path(job) / (std::string(prefix) + std::to_string(number))).string();
}

bool comes_back(const std::string& discovery, std::int32_t plane) {
  return is_there(discovery, "returns-", plane);
}

bool is_coming_back(const std::string& discovery, std::int32_t plane) {
  return comes_back(discovery, plane) && access((discovery + "/joined").c_str(), F_OK) != 0;
}

std::optional<Return> waiting_return(const std::string& job, std::uint64_t after,
                                     std::int32_t planes) {
  std::string text;
  std::ifstream file(job + "/returning");
  if (!std::getline(file, text)) return std::nullopt;
  const std::uint64_t number = number_in(text);
  if (number <= after) return std::nullopt;
  const std::string discovery = discovery_of_return(job, number);
  for (std::int32_t plane = 0; plane < planes; ++plane) {
    if (!comes_back(discovery, plane)) continue;
    const bool is_waiting =
        is_there(discovery, "addresses-", plane) && !is_there(discovery, "ended-", plane);
    return is_waiting ? std::optional(Return{.number = number, .plane = plane}) : std::nullopt;
  }
  return std::nullopt;
}

void say_that_there_are_checkpoints(const std::string& job) { write(job + "/has-checkpoints", ""); }

void say_files_given(const std::string& discovery) { write(discovery + "/files", ""); }

bool are_files_given(const std::string& discovery) {
  return access((discovery + "/files").c_str(), F_OK) == 0;
}

void say_joined(const std::string& discovery, std::uint64_t checkpoint) {
  write(discovery + "/joined", std::to_string(checkpoint) + "\n");
}

}  // namespace resprout::runtime
