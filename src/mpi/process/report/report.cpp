#include "mpi/process/report/report.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "mpi/process/report/json.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

const char* name_of(runtime::LossKind kind) {
  switch (kind) {
    case runtime::LossKind::exited:
      return "exited";
    case runtime::LossKind::hung:
      return "hung";
    case runtime::LossKind::unreachable:
      return "unreachable";
    case runtime::LossKind::cut_off:
      return "cut_off";
  }
  __builtin_unreachable();
}

const char* sentence_of(runtime::LossKind kind) {
  switch (kind) {
    case runtime::LossKind::exited:
      return "died";
    case runtime::LossKind::hung:
      return "hung and was ended";
    case runtime::LossKind::unreachable:
      return "cannot be reached any more";
    case runtime::LossKind::cut_off:
      return "lives, but its data link is silent, and was told to end";
  }
  __builtin_unreachable();
}

// In one piece, so that lines of several ranks do not mix.
void say(std::string line) {
  line += '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void write_ranks(Json& json, const char* key, const std::vector<int>& ranks) {
  json.key(key).begin_array();
  for (const int rank : ranks) json.number(rank);
  json.end_array();
}

void write_time(Json& json, const char* key, std::int64_t time_ns) {
  json.key(key);
  time_ns != 0 ? json.number(time_ns) : json.null();
}

void write_views(Json& json, const std::vector<runtime::InstalledView>& views) {
  json.begin_array();
  for (const runtime::InstalledView& view : views) {
    json.begin_object().key("epoch").number(static_cast<std::int64_t>(view.epoch));
    write_ranks(json, "lost", view.lost);
    write_time(json, "detected_ns", view.detected_ns);
    write_time(json, "decided_ns", view.decided_ns);
    json.key("installed_ns").number(view.installed_ns).end_object();
  }
  json.end_array();
}

void write_tree(Json& json, const runtime::ViewTree& tree) {
  json.begin_object().key("radix").number(tree.tree.radix);
  write_ranks(json, "places", tree.places);
  json.end_object();
}

void write_operations(Json& json, const Tallies& tallies) {
  struct Sum {
    std::uint64_t calls = 0, native = 0, touched = 0, errors = 0;
  };
  std::map<std::string, Sum> sums;
  tallies.for_each([&](const Tally& tally) {
    Sum& sum = sums[tally.call.load()];
    sum.calls += tally.calls.load();
    sum.native += tally.native.load();
    sum.touched += tally.touched.load();
    sum.errors += tally.errors.load();
  });
  json.key("operations").begin_object();
  for (const auto& [call, sum] : sums) {
    json.key(call).begin_object();
    json.key("calls").number(static_cast<std::int64_t>(sum.calls));
    json.key("native").number(static_cast<std::int64_t>(sum.native));
    json.key("touched").number(static_cast<std::int64_t>(sum.touched));
    json.key("errors").number(static_cast<std::int64_t>(sum.errors)).end_object();
  }
  json.end_object();
}

void write_verification(Json& json, const VerificationFigures& figures) {
  const auto number = [&](const char* key, std::uint64_t value) {
    json.key(key).number(static_cast<std::int64_t>(value));
  };
  json.begin_object();
  number("verified", figures.votes.verified);
  number("unverified", figures.votes.unverified);
  number("skipped", figures.skipped);
  number("open_max", figures.votes.open_max);
  number("bytes_max", figures.votes.bytes_max);
  number("checkpoints", figures.checkpoints);
  number("returns", figures.returns);
  json.key("history").begin_object();
  number("interval_ns", static_cast<std::uint64_t>(figures.history.interval_ns));
  json.key("open").begin_array();
  for (const auto& load : figures.history.of) json.real(load.open);
  json.end_array().key("bytes").begin_array();
  for (const auto& load : figures.history.of) json.real(load.bytes);
  json.end_array().end_object();
  json.end_object();
}

}  // namespace

std::int64_t wall_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1000000000} + now.tv_nsec;
}

bool write_whole_file(const std::string& path, const std::string& contents) {
  const std::string draft = path + ".part";
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  std::size_t done = 0;
  while (done < contents.size()) {
    const ssize_t written = ::write(fd, contents.data() + done, contents.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  const bool is_closed = ::close(fd) == 0;
  return done == contents.size() && is_closed && ::rename(draft.c_str(), path.c_str()) == 0;
}

Report& Report::open(Setup setup) {
  auto* report = new Report(std::move(setup));
  // Not in a child that the program forks: the file is about this process.
  static Report* of_process;
  static pid_t pid;
  of_process = report;
  pid = getpid();
  on_exit(
      [](int status, void*) {
        if (getpid() == pid) of_process->note_exit(status);
      },
      nullptr);
  return *report;
}

Report::Report(Setup setup) : setup_(std::move(setup)), started_ns_(wall_clock_ns()) {}

std::uint64_t Report::steps() const {
  const auto only_looks = [](std::string_view call) {
    return call.starts_with("test") || call.starts_with("wait") ||
           call.find("probe") != std::string_view::npos || call == "request_get_status" ||
           call == "wtime";
  };
  std::uint64_t sum = 0;
  tallies_.for_each([&](const Tally& tally) {
    if (!only_looks(tally.call.load())) sum += tally.calls.load(std::memory_order_relaxed);
  });
  return sum;
}

void Report::note_loss(const runtime::Loss& loss) {
  const runtime::MutexLock lock(mutex_);
  losses_.push_back(loss);
  is_announced_.push_back(false);
  if (!is_lowest_living()) return;
  // Whoever was to announce an earlier loss may have died over it.
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    if (!is_announced_[i] && claim_announcement(losses_[i].rank)) say(describe(losses_[i]));
    is_announced_[i] = true;
  }
}

void Report::note_loss_of_plane(const runtime::Loss& loss) {
  {
    const runtime::MutexLock lock(mutex_);
    losses_.push_back(loss);
    is_announced_.push_back(true);
  }
  write();
}

void Report::note_view(runtime::InstalledView view) {
  const runtime::MutexLock lock(mutex_);
  views_.push_back(std::move(view));
}

void Report::note_recovery(Recovery recovery) {
  const runtime::MutexLock lock(mutex_);
  recoveries_.push_back(std::move(recovery));
}

void Report::note_transport(const std::string& name, std::uint64_t value) {
  const runtime::MutexLock lock(mutex_);
  transport_.emplace_back(name, value);
}

void Report::note_verification(const VerificationFigures& figures) {
  const runtime::MutexLock lock(mutex_);
  verification_ = figures;
}

void Report::note_faults_left(std::vector<std::string> faults) {
  const runtime::MutexLock lock(mutex_);
  faults_left_ = std::move(faults);
}

void Report::note_finalized() {
  {
    const runtime::MutexLock lock(mutex_);
    is_finalized_ = true;
  }
  write();
}

void Report::note_cut_off(const std::string& why) {
  {
    const runtime::MutexLock lock(mutex_);
    cut_off_ = why;
  }
  say("resprout: rank " + std::to_string(setup_.rank) + " " + why +
      "; its MPI calls return MPIX_ERR_PROC_FAILED from here on, and it cannot come back");
}

void Report::note_exit(int status) {
  {
    const runtime::MutexLock lock(mutex_);
    const bool has_to_tell = status == 0 && !cut_off_.empty();
    exit_status_ = has_to_tell ? runtime::cut_off_exit_status : status;
  }
  write();
}

std::string Report::to_json() {
  const runtime::MutexLock lock(mutex_);
  const Peer& self = setup_.peers[static_cast<std::size_t>(setup_.rank)];
  Json json;
  json.begin_object().key("schema").number(1).key("rank").number(setup_.rank);
  json.key("world_size").number(static_cast<std::int64_t>(setup_.peers.size()));
  json.key("pid").number(self.pid).key("host").string(self.host);
  json.key("started_ns").number(started_ns_).key("ended_ns").number(wall_clock_ns());
  json.key("finalized").boolean(is_finalized_).key("exit_status");
  exit_status_ ? json.number(*exit_status_) : json.null();
  json.key("cut_off");
  cut_off_.empty() ? json.null() : json.string(cut_off_);
  write_operations(json, tallies_);

  json.key("losses").begin_array();
  for (const runtime::Loss& loss : losses_) {
    json.begin_object().key("rank").number(loss.rank).key("kind").string(name_of(loss.kind));
    json.key("detected_ns").number(loss.detected_ns).key("found_by").number(loss.found_by);
    json.key("pid").number(setup_.peers[static_cast<std::size_t>(loss.rank)].pid);
    // A process does not tell when it dies; the injector does, in a file of its own.
    json.key("died_ns").null().end_object();
  }
  json.end_array().key("recoveries").begin_array();
  for (const Recovery& recovery : recoveries_) {
    json.begin_object().key("operation").string(recovery.operation);
    json.key("number").number(static_cast<std::int64_t>(recovery.number));
    json.key("communicator").string(recovery.communicator);
    write_ranks(json, "lost", recovery.lost);
    json.key("began_ns").number(recovery.began_ns).key("ended_ns").number(recovery.ended_ns);
    json.end_object();
  }
  json.end_array().key("views");
  setup_.keeps_views ? write_views(json, views_) : void(json.null());
  // It is the same for all, and as long as there are ranks.
  json.key("tree");
  setup_.keeps_views&& is_lowest_living() ? write_tree(json, setup_.tree) : void(json.null());
  json.key("transport").begin_object();
  for (const auto& [name, value] : transport_)
    json.key(name).number(static_cast<std::int64_t>(value));
  json.end_object().key("verification");
  verification_ ? write_verification(json, *verification_) : void(json.null());
  json.key("faults_left").begin_array();
  for (const std::string& fault : faults_left_) json.string(fault);
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string Report::describe(const runtime::Loss& loss) const {
  const Peer& peer = setup_.peers[static_cast<std::size_t>(loss.rank)];
  std::string line = "resprout: rank " + std::to_string(loss.rank) + " (pid " +
                     std::to_string(peer.pid) + " on " + peer.host + ") " + sentence_of(loss.kind);
  line += setup_.on_loss != OnLoss::error
              ? "; going on without it, results no longer contain its part"
              : "; calls that it touches return MPIX_ERR_PROC_FAILED";
  if (loss.found_by >= 0) line += " (found by rank " + std::to_string(loss.found_by) + ")";
  return line;
}

bool Report::is_lowest_living() const {
  for (int rank = 0; rank < setup_.rank; ++rank)
    if (std::none_of(losses_.begin(), losses_.end(),
                     [&](const runtime::Loss& loss) { return loss.rank == rank; }))
      return false;
  return true;
}

// True for one of all ranks that ask, if they share the run directory. Without one, losses that
// were noted while a lower rank lived are left to that rank.
bool Report::claim_announcement(int lost_rank) const {
  if (setup_.run_directory.empty()) return losses_.back().rank == lost_rank;
  return claim("announced-" + std::to_string(lost_rank));
}

bool Report::claim(const std::string& what) const {
  if (setup_.run_directory.empty()) return true;
  const std::string path = setup_.run_directory + "/" + what;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno != EEXIST;
  ::close(fd);
  return true;
}

// The lifeline's thread notes losses while another one ends the process: what stays is the newest.
void Report::write() {
  if (setup_.run_directory.empty()) return;
  const runtime::MutexLock lock(writing_);
  const std::string path = setup_.run_directory + "/rank-" + std::to_string(setup_.rank) + ".json";
  if (!write_whole_file(path, to_json()))
    say("resprout: rank " + std::to_string(setup_.rank) + " cannot write its report: " + path);
}

}  // namespace resprout::shim
