// What verification has found: written down at once, and what follows from it.
//
// Each finding leaves a note "corrupted" (docs/reference/report.md has its names). A process that
// has worked with what a majority has out-voted, or with what nobody can decide about, goes back to
// its last checkpoint, and its plane with it (checkpoints.hpp). If there is none, the former has no
// future: its plane ends, and its siblings go on; where they stand in for the lost it ends alone,
// if one of them lives. The latter ends the job, unless the user wants to hear of it only.
//
// Thread rule: from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "mpi/process/options.hpp"
#include "mpi/process/report/notes.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/verifier.hpp"

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
    // Where siblings stand in: whether one lives, so that this process may end alone. Else nobody
    // can tell what is right. Empty: its plane ends.
    std::function<bool()> has_stand_in = {};
  };
  explicit Findings(Setup setup)
      : setup_(std::move(setup)), notes_(setup_.run_directory, setup_.rank) {}

  // Returns only if this process goes on.
  void note(const runtime::Finding& finding);

  // A plane was taken in (returns.hpp), and has not come to its next checkpoint yet; -1: none. If
  // nobody can tell who is right, and going back does not help, something was not protected: it is
  // the wrong one.
  void note_newcomer(int replica) { newcomer_ = replica; }
  // Whether a process that has worked with wrong data waits for its next checkpoint, to go back.
  void allow_going_back(bool is_allowed);
  // It has, since it went back last.
  bool is_tainted();
  // And without going back this process has to end.
  bool is_doomed();
  // It has gone back.
  void forgive();
  // It cannot go back. Returns if it goes on all the same, or was not tainted.
  void give_up();

 private:
  enum class Then { go_on, go_back, exclude, abort };
  Then what_follows(const runtime::Finding& finding) const;
  Then what_follows_without_checkpoint(const runtime::Finding& finding) const;
  Then if_undecided() const;
  Then if_wrong() const;
  void leave_note(const runtime::Finding& finding, Then then);
  const char* text_of(Then then) const;

  const Setup setup_;
  Notes notes_;
  std::atomic<bool> may_go_back_{false};
  std::atomic<int> newcomer_{-1};
  runtime::Mutex mutex_;
  // By the first that it found.
  std::optional<runtime::Finding> tainted_ RESPROUT_GUARDED_BY(mutex_);
  // For the launcher, until it is forgiven: this process has been out-voted, or nobody can tell.
  std::string mark_ RESPROUT_GUARDED_BY(mutex_);
};

}  // namespace resprout::shim
