// Where the shared pointer of a file stands: a number in a small file beside it, there from the
// first use until the file's end. Who moves it holds a lock of the kernel's, also between hosts
// that share the folder; it ends with a process that dies.
//
// Thread rule: from any thread of any process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace resprout::shim {

class SharedPointer {
 public:
  // `path`: the same one in all processes, and nobody else's. `begin`: where it stands at first.
  SharedPointer(std::string path, std::int64_t begin) : path_(std::move(path)), begin_(begin) {}

  // To `to(where it stood)`, which `before` gets. 0, or errno.
  using To = std::function<std::int64_t(std::int64_t)>;
  int move(const To& to, std::int64_t* before) const { return move_once(0, to, before); }
  // The same by one for all, for the `time`-th time, from 1, though several may try to: who has
  // moved it may have died before it could say so.
  int move_once(std::uint64_t time, const To& to, std::int64_t* before) const;
  // Somebody has moved it.
  bool is_there() const;
  void remove() const;

 private:
  const std::string path_;
  const std::int64_t begin_;
};

}  // namespace resprout::shim
