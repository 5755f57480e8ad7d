#include "mpi/policies/files/shadows.hpp"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "mpi/policies/files/copy.hpp"
#include "mpi/policies/files/file_note.hpp"
#include "runtime/replicas/returns.hpp"

namespace resprout::shim {
namespace {

std::optional<std::string> real_path(const std::string& name) {
  const std::unique_ptr<char, decltype(&::free)> path(::realpath(name.c_str(), nullptr), ::free);
  return path ? std::optional<std::string>(path.get()) : std::nullopt;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Which file that is, though it may not be there yet. Nothing: MPI is to say what is wrong with it,
// or it is none that could have a shadow, as /dev/null.
std::optional<std::string> file_of(const std::string& name) {
  if (const auto path = real_path(name)) {
    struct stat is{};
    const bool is_file = ::stat(path->c_str(), &is) == 0 && S_ISREG(is.st_mode);
    return is_file ? path : std::nullopt;
  }
  const std::string last = last_of(name);
  const auto folder = errno == ENOENT && !last.empty() ? real_path(folder_of(name)) : std::nullopt;
  if (!folder) return std::nullopt;
  return (*folder == "/" ? "" : *folder) + "/" + last;
}

}  // namespace

Shadows::Shadows(Setup setup)
    : setup_(std::move(setup)),
      discovery_(folder_of(setup_.run_directory)),
      job_(last_of(runtime::job_of_discovery(discovery_))),
      folder_(runtime::job_of_discovery(discovery_) + "/files") {}

std::string Shadows::shadow_of(const std::string& path, int replica) const {
  const std::string last = last_of(path);
  const std::string mark = "." + job_ + "-replica-" + std::to_string(replica);
  const bool has_room = last.size() + mark.size() <= NAME_MAX;
  return path.substr(0, path.size() - last.size()) + (has_room ? last : digits_of(path)) + mark;
}

bool Shadows::was_made(const std::string& path) const {
  return runtime::is_coming_back(discovery_, setup_.replica) &&
         !FileNote(folder_, path).places().empty();
}

int Shadows::make(const std::string& path) const {
  FileNote file_note(folder_, path);
  if (file_note.error() != 0) return file_note.error();
  if (const auto result = file_note.result()) return *result;
  std::vector<std::string> shadows;
  for (int replica = 1; replica < setup_.replicas; ++replica)
    shadows.push_back(shadow_of(path, replica));
  file_note.begin(path, shadows);
  int error = file_note.error();
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  for (const std::string& shadow : shadows)
    if (is_there && error == 0) error = copy_file(path, shadow);
  for (const std::string& shadow : shadows)
    if (error != 0) ::unlink(shadow.c_str());
  file_note.end(error);
  return error != 0 ? error : file_note.error();
}

Shadows::Place Shadows::to_read(const std::string& name) const {
  if (setup_.replica == 0) return {};
  const auto path = file_of(name);
  if (!path) return {};
  const FileNote file_note(folder_, *path);
  if (file_note.error() != 0) return {.path = "", .error = file_note.error()};
  return file_note.result() == 0 ? Place{.path = shadow_of(*path, setup_.replica)} : Place{};
}

Shadows::Place Shadows::to_write(const std::string& name) const {
  const auto path = file_of(name);
  if (!path) return {};
  Place place;
  place.was_made = was_made(*path);
  place.error = make(*path);
  if (place.error == 0 && setup_.replica > 0) place.path = shadow_of(*path, setup_.replica);
  return place;
}

int Shadows::give_all(int replica) const {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    FileNote file_note(entry.path());
    const std::vector<std::string> places = file_note.places();
    if (std::cmp_less_equal(places.size(), std::max(replica, setup_.replica))) continue;
    const std::string& from = places[static_cast<std::size_t>(setup_.replica)];
    const std::string& to = places[static_cast<std::size_t>(replica)];
    const int error = copy_file(from, to);
    if (error == ENOENT) {
      ::unlink(to.c_str());
      file_note.note("deleted", replica);
    } else if (error != 0) {
      return error;
    }
  }
  return 0;
}

void Shadows::note(const std::string& name, const char* what) const {
  if (const auto path = file_of(name)) FileNote(folder_, *path).note(what, setup_.replica);
}

void Shadows::note(const std::string& name, const char* what, int rank, std::uint64_t of) const {
  if (const auto path = file_of(name))
    FileNote(folder_, *path).note(what, setup_.replica, rank, of);
}

void Shadows::note_begun(const std::string& name, int rank, std::uint64_t of) const {
  note(name, "begun", rank, of);
}
void Shadows::note_closed(const std::string& name, int rank, std::uint64_t of) const {
  note(name, "closed", rank, of);
}
void Shadows::note_removed(const std::string& name, int rank, std::uint64_t of) const {
  note(name, "removed", rank, of);
}

bool Shadows::is_behind(const std::string& name, int rank) const {
  const auto path = file_of(name);
  return path && !FileNote(folder_, *path).missing(setup_.replica, rank).empty();
}

Shadows::CatchUp Shadows::catch_up(const std::string& name, int rank, std::uint64_t up_to) const {
  const auto path = file_of(name);
  if (!path) return {};
  FileNote file_note(folder_, *path);
  std::map<std::uint64_t, bool> missing = file_note.missing(setup_.replica, rank);
  missing.erase(missing.upper_bound(up_to), missing.end());
  if (missing.empty()) return {};
  if (!missing.rbegin()->second) return {.is_behind = true};
  const std::string place = setup_.replica == 0 ? *path : shadow_of(*path, setup_.replica);
  if (::unlink(place.c_str()) != 0 && errno != ENOENT) return {.error = errno};
  for (const auto& [of, is_removal] : missing)
    file_note.note(is_removal ? "removed" : "closed", setup_.replica, rank, of);
  file_note.note("deleted", setup_.replica);
  return {.error = file_note.error()};
}

std::string Shadows::known_as(const std::string& name) { return file_of(name).value_or(name); }

}  // namespace resprout::shim
