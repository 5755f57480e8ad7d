// What this process saw: calls, losses, recoveries; on the terminal at once, in a file at the end.
//
// The file is rank-<r>.json in the run directory; `resprout run` merges those of all ranks
// (docs/reference/report.md has the schema). It appears when MPI_Finalize is through and is written
// anew when the process exits, with its exit status; a process that is killed leaves none. Times
// are CLOCK_REALTIME, in nanoseconds.
//
// Thread rule: everything may be called from any thread; counting takes no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/process/options.hpp"
#include "mpi/process/report/tallies.hpp"
#include "mpi/process/report/verification_figures.hpp"
#include "runtime/lifeline/lifeline.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {

// An operation that a loss fell into.
struct Recovery {
  std::string operation;  // lower-case MPI name
  std::uint64_t number = 0;
  std::string communicator;
  std::vector<int> lost;  // world ranks
  std::int64_t began_ns = 0;
  std::int64_t ended_ns = 0;
};

class Report {
 public:
  struct Peer {
    std::int32_t pid = 0;
    std::string host;
  };
  struct Setup {
    int rank = 0;
    std::vector<Peer> peers;    // by world rank, this process included
    std::string run_directory;  // empty: no file
    OnLoss on_loss = OnLoss::go_on;
    bool keeps_views = true;
    runtime::ViewTree tree;  // of the views
  };

  // Opens the report of this process, which is never closed: it is written when the process exits.
  static Report& open(Setup setup);

  explicit Report(Setup setup);
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // `call`: the lower-case MPI name, a string literal.
  void count_call(const char* call) { increment(tallies_.of(call).calls); }
  // The MPI library's own collective carried it.
  void count_native(const char* call) { increment(tallies_.of(call).native); }
  void count_touched(const char* call) { increment(tallies_.of(call).touched); }
  void count_error(const char* call) { increment(tallies_.of(call).errors); }
  // So many calls were made, but for those that only look whether something is there, or wait for
  // it: of these a program may make more in one replica than in another.
  std::uint64_t steps() const;

  // Says so on stderr if this is the lowest living rank.
  void note_loss(const runtime::Loss& loss);
  // Of a plane, which ends with it: into the file at once, nothing on stderr.
  void note_loss_of_plane(const runtime::Loss& loss);
  void note_view(runtime::InstalledView view);
  void note_recovery(Recovery recovery);
  // A figure of the transport, for the end: {"rejected_connections", 0}.
  void note_transport(const std::string& name, std::uint64_t value);
  // What MPI_Finalize has waited for.
  void note_verification(const VerificationFigures& figures);
  // Faults that were to come about and did not, as they were written.
  void note_faults_left(std::vector<std::string> faults);
  // MPI_Finalize is through: writes the file, whose exit status is not known yet.
  void note_finalized();
  // This process is cut off: says so on stderr. Its exit status is not 0 then.
  void note_cut_off(const std::string& why);
  void note_exit(int status);

  // True for one of all ranks that ask for `what`, if they share a run directory; else for all.
  bool claim(const std::string& what) const;

  // The file's contents.
  std::string to_json();
  // The line that tells a person of a loss, without a line end.
  std::string describe(const runtime::Loss& loss) const;

 private:
  static void increment(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
  bool is_lowest_living() const RESPROUT_REQUIRES(mutex_);
  bool claim_announcement(int lost_rank) const RESPROUT_REQUIRES(mutex_);
  void write();

  const Setup setup_;
  const std::int64_t started_ns_;
  Tallies tallies_;
  runtime::Mutex writing_;  // one file at a time; comes before mutex_
  runtime::Mutex mutex_;
  std::vector<runtime::Loss> losses_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<bool> is_announced_ RESPROUT_GUARDED_BY(mutex_);  // parallel to losses_
  std::vector<runtime::InstalledView> views_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<Recovery> recoveries_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::uint64_t>> transport_ RESPROUT_GUARDED_BY(mutex_);
  std::optional<VerificationFigures> verification_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<std::string> faults_left_ RESPROUT_GUARDED_BY(mutex_);
  bool is_finalized_ RESPROUT_GUARDED_BY(mutex_) = false;
  std::optional<int> exit_status_ RESPROUT_GUARDED_BY(mutex_);
  std::string cut_off_ RESPROUT_GUARDED_BY(mutex_);  // why it is; empty: it is not
};

// CLOCK_REALTIME in nanoseconds.
std::int64_t wall_clock_ns();

// Writes `path` so that a reader finds it whole or not at all. False: it could not (errno says
// why).
bool write_whole_file(const std::string& path, const std::string& contents);

}  // namespace resprout::shim
