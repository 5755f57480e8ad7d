// See statistics.hpp.
#include "runtime/member/statistics.hpp"

#include <fstream>
#include <string>

namespace resprout::runtime::member {

Memory memory_of_this_process() {
  // Lines as "Private_Dirty:       8 kB"; the first is a range of addresses.
  std::ifstream file("/proc/self/smaps_rollup");
  Memory memory;
  for (std::string name; file >> name;) {
    std::uint64_t kilobytes = 0;
    if (name.back() == ':' && file >> kilobytes) {
      if (name == "Rss:") memory.resident += kilobytes * 1024;
      if (name == "Private_Clean:" || name == "Private_Dirty:") memory.own += kilobytes * 1024;
    }
    std::getline(file, name);
  }
  return memory;
}

}  // namespace resprout::runtime::member
