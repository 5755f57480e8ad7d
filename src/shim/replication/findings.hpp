// What verification has found: written down at once, and what follows from it.
//
// Each finding leaves corrupted-<rank>-<n>.json in the run directory (docs/report.md has its
// names). A process that has worked with what a majority has out-voted has no future, nor has its
// plane: it ends, and its siblings go on. What nobody can decide ends the job, unless the user
// wants to hear of it only.
//
// Thread rule: from any thread.
#pragma once

#include <atomic>
#include <string>

#include "runtime/replicas/verifier.hpp"
#include "shim/options.hpp"

namespace resprout::shim {

// The exit status of a job that was ended because of a corruption.
inline constexpr int status_corrupted = 4;

class Findings {
 public:
  struct Setup {
    std::string run_directory;
    int rank = 0;
    int replica = 0;
    OnCorruption on_corruption = OnCorruption::abort;
  };
  explicit Findings(Setup setup) : setup_(std::move(setup)) {}

  // Returns only if this process goes on.
  void note(const runtime::Finding& finding);

 private:
  enum class Then { go_on, exclude, abort };
  Then what_follows(const runtime::Finding& finding) const;
  void leave_note(const runtime::Finding& finding, Then then);

  const Setup setup_;
  std::atomic<int> noted_{0};
};

}  // namespace resprout::shim
