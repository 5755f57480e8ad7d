// What a member keeps on disk of its group: where the others listen, a HOST:PORT a line. A process
// that is started again with nobody to join asks these, before it founds a group of its own.
//
// Thread rule: the member's thread. It reads and writes the file.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runtime/member/wire.hpp"

namespace resprout::runtime::member {

// Empty if there is no such file, or it cannot be read. Lines that are no address are left out.
std::vector<Address> read_group(const std::string& path);

// Replaces the file as a whole: a reader sees the old one or the new one. False: not written.
bool write_group(const std::string& path, const std::vector<Address>& others);

// Of one member: what an earlier process has kept, and until when this one asks those.
class KnownGroup {
 public:
  // Reads what is there, but for `own`. An empty path: nothing is kept.
  KnownGroup(std::string path, const Address& own);

  const std::vector<Address>& others() const { return others_; }
  // Only those with which the predicate agrees.
  template <typename F>
  void restrict_to(F is_possible) {
    std::erase_if(others_, [&](const Address& other) { return !is_possible(other); });
  }
  // Of a member of a view: where the others are now.
  void keep(std::vector<Address> others);

  // It asks them for admission until this time, in nanoseconds.
  void start_asking(std::int64_t until_ns) { ask_until_ns_ = until_ns; }
  void stop_asking() { ask_until_ns_ = not_asking; }
  // Whether that time is over: then it founds a group.
  bool is_given_up(std::int64_t now_ns) const { return now_ns >= ask_until_ns_; }
  std::int64_t ask_until_ns() const { return ask_until_ns_; }
  // Nobody listens at `address`. If that is so of all of them, there is nobody to wait for.
  void note_refused(const Address& address, std::int64_t now_ns);

 private:
  static constexpr std::int64_t not_asking = INT64_MAX;

  std::string path_;
  std::vector<Address> others_;
  std::set<Address> refused_by_;
  std::int64_t ask_until_ns_ = not_asking;
};

}  // namespace resprout::runtime::member
