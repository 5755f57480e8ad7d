// See known_group.hpp.
#include "runtime/member/known_group.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

namespace resprout::runtime::member {

std::vector<Address> read_group(const std::string& path) {
  std::vector<Address> others;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (auto address = parse_address(line); address && address->port != 0)
      others.push_back(std::move(*address));
  return others;
}

bool write_group(const std::string& path, const std::vector<Address>& others) {
  const std::string draft = path + "." + std::to_string(getpid());
  {
    std::ofstream file(draft, std::ios::trunc);
    for (const Address& other : others) file << other.text() << '\n';
    file.close();
    if (file && std::rename(draft.c_str(), path.c_str()) == 0) return true;
  }
  std::remove(draft.c_str());
  return false;
}

KnownGroup::KnownGroup(std::string path, const Address& own) : path_(std::move(path)) {
  if (!path_.empty()) others_ = read_group(path_);
  std::erase(others_, own);
}

void KnownGroup::keep(std::vector<Address> others) {
  if (path_.empty() || others == others_) return;
  others_ = std::move(others);
  write_group(path_, others_);
}

void KnownGroup::note_refused(const Address& address, std::int64_t now_ns) {
  if (ask_until_ns_ == not_asking) return;
  refused_by_.insert(address);
  const auto has_refused = [this](const Address& other) { return refused_by_.contains(other); };
  if (std::ranges::all_of(others_, has_refused)) ask_until_ns_ = now_ns;
}

}  // namespace resprout::runtime::member
