#include "runtime/replicas/discovery.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>

namespace resprout::runtime {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

std::string addresses_file(const std::string& folder, std::int32_t plane) {
  return folder + "/addresses-" + std::to_string(plane);
}

// Nothing: there is no such file.
std::optional<std::vector<char>> contents_of(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    fail(path);
  }
  std::vector<char> contents;
  char piece[4096];
  for (;;) {
    const ssize_t n = read(file.get(), piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path);
    if (n == 0) return contents;
    contents.insert(contents.end(), piece, piece + n);
  }
}

// Of one plane; nothing: it may still leave them.
std::optional<std::vector<LinkAddress>> addresses_of(const std::string& folder, std::int32_t plane,
                                                     std::int32_t ranks) {
  // Asked first: who leaves addresses and ends must not be taken for one that left none.
  const bool is_over = access((folder + "/ended-" + std::to_string(plane)).c_str(), F_OK) == 0;
  std::vector<LinkAddress> addresses(static_cast<std::size_t>(ranks));
  const auto contents = contents_of(addresses_file(folder, plane));
  if (!contents) return is_over ? std::optional(addresses) : std::nullopt;
  if (contents->size() != addresses.size() * sizeof(LinkAddress))
    throw std::runtime_error("plane " + std::to_string(plane) + " has " +
                             std::to_string(contents->size() / sizeof(LinkAddress)) +
                             " ranks, and this one " + std::to_string(ranks));
  std::memcpy(addresses.data(), contents->data(), contents->size());
  for (LinkAddress& address : addresses) address.host.back() = 0;
  return addresses;
}

}  // namespace

bool is_on_several_hosts(const std::string& folder) {
  return access((folder + "/several-hosts").c_str(), F_OK) == 0;
}

bool is_said_to_be_lost(const std::string& folder, std::int32_t plane) {
  return access((folder + "/lost-" + std::to_string(plane)).c_str(), F_OK) == 0;
}

auth::Secret read_discovery_secret(const std::string& folder) {
  const std::string path = folder + "/secret";
  const auto contents = contents_of(path);
  auth::Secret secret{};
  if (!contents) fail(path);
  if (contents->size() != secret.size()) throw std::runtime_error(path + " is no secret");
  std::memcpy(secret.data(), contents->data(), secret.size());
  return secret;
}

void leave_addresses(const std::string& folder, std::int32_t plane,
                     const std::vector<LinkAddress>& by_rank) {
  const std::string path = addresses_file(folder, plane);
  const std::string draft = path + ".part";
  {
    const Fd file(open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.is_open()) fail(draft);
    std::span<const std::byte> rest = std::as_bytes(std::span(by_rank));
    while (!rest.empty()) {
      const ssize_t n = write(file.get(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(draft);
      rest = rest.subspan(static_cast<std::size_t>(n));
    }
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) fail(path);
}

std::vector<LinkAddress> meet(const std::string& folder, std::int32_t planes, std::int32_t ranks,
                              const std::function<void()>& pause) {
  std::vector<LinkAddress> everybody;
  for (std::int32_t plane = 0; plane < planes; ++plane) {
    auto addresses = addresses_of(folder, plane, ranks);
    for (; !addresses; addresses = addresses_of(folder, plane, ranks)) pause();
    everybody.insert(everybody.end(), addresses->begin(), addresses->end());
  }
  return everybody;
}

}  // namespace resprout::runtime
