// stdout and stderr of this process go nowhere while one lives: what is done again has been said.
//
// Thread rule: one at a time.
#pragma once

namespace resprout::shim {

class Muted {
 public:
  Muted();
  ~Muted();
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;

 private:
  int stdout_;  // duplicates of them; -1: could not be had, and is not muted
  int stderr_;
};

}  // namespace resprout::shim
