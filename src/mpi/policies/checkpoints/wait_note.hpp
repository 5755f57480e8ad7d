// The note `waits-<rank>` in the run directory: this process is at a checkpoint and waits for
// another plane, for longer than that should take. The plane that is waited for may have gone
// astray, and the launcher may end it (docs/how-to/stragglers.md).
//
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>

namespace resprout::shim {

// From its making until its end. Empty `run_directory`: no notes.
class WaitNote {
 public:
  WaitNote(const std::string& run_directory, int rank);
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;

  // Again and again while it waits.
  void look();

 private:
  const std::string file_;  // empty: none
  const std::int64_t began_;
  bool is_noted_ = false;
};

}  // namespace resprout::shim
