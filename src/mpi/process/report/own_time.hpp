// How much of the time that goes by is a process's own: it had a core, or had no use for one. On a
// busy machine others have the core instead; who waits for a disk, or is held by a debugger, could
// not go on either.
//
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace resprout::shim {

class OwnTime {
 public:
  // `process`: its folder in /proc.
  explicit OwnTime(std::string process = "/proc/self") : process_(std::move(process)) {}

  // Of the `elapsed_ns` since it was asked last so many are its own. Of its threads the one counts
  // that has waited longest for a core.
  std::int64_t of(std::int64_t elapsed_ns);

 private:
  std::int64_t waited_longest();
  bool is_held() const;

  const std::string process_;
  std::map<std::string, std::int64_t> waited_;  // in all, for a core, by thread
};

}  // namespace resprout::shim
