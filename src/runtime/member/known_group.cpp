// See known_group.hpp.
#include "runtime/member/known_group.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>

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

}  // namespace resprout::runtime::member
