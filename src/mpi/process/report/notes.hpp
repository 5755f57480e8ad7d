// What a process tells its launcher while it runs: it outlives the process, whatever ends that.
//
// Notes are lines of notes-<rank> in the run directory, {"<kind>":{...}}, each written by one call:
// a file for each would take a disk far longer, and others wait for this process meanwhile. A line
// that a full disk has cut short spoils no other.
//
// Thread rule: from any thread; several of one rank may write to the file at once.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "mpi/process/report/json.hpp"

namespace resprout::shim {

class Notes {
 public:
  // Without a run directory: none are kept.
  Notes(const std::string& run_directory, int rank);
  ~Notes();
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  // Makes the file, so that `add` need not.
  void prepare();
  void add(std::string_view kind, const Json& value);

 private:
  const std::string path_;  // empty: none are kept
  std::once_flag is_opened_;
  int fd_ = -1;
};

}  // namespace resprout::shim
