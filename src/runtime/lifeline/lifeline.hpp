// The lifeline: finds out that a process of the job died, hangs or cannot be reached, and tells
// everybody. It is independent of MPI and of the data transports.
//
// On one host: an event on the sibling's pidfd is its death, and each process has a status page in
// shared memory with its heartbeat, its goodbye and the word of the peer that ends it. Between
// hosts: authenticated links along a binomial graph over the living, which carry heartbeats and the
// flood of news. A process that hangs is ended by a live peer on its host before it counts as lost.
//
// Invariants
//  1. Each loss is reported once per process. Who said goodbye is never reported as a loss.
//  2. Every live process that can be reached learns of each loss.
//  3. A process that learns that it has been declared lost itself is cut off: it says nothing more,
//     listens to nobody, and is told of nothing. It says so on stderr and ends, unless the caller
//     lets it live on (on_cut_off).
//  4. A watcher that was itself kept from running accuses nobody for the time it missed, and is
//     more patient with all until it has been on time again.
//  5. Of a data link between hosts that is silent though both ends live, one end at most goes on.
//  6. Of two sides that do not hear each other the one goes on that has a quorum of the last view
//     (quorum.hpp). The processes of the other one are told of no loss that is not proven, and are
//     cut off after two heartbeat timeouts. Without views both go on.
//  7. All processes that install a view with some epoch install the same one (views.hpp).
//
// Thread rule: one thread of its own, mostly asleep; the callbacks run on it, without any lock
// held. `listen`, `connect` and `leave` belong to one thread of the caller; the others may be
// called from any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/auth/secret.hpp"
#include "runtime/death_marks/death_marks.hpp"
#include "runtime/lifeline/loss.hpp"
#include "runtime/lifeline/peer_address.hpp"
#include "runtime/lifeline/view_tree.hpp"

namespace resprout::runtime {

// Of a process that was cut off.
inline constexpr int cut_off_exit_status = 70;

// Of a job with views.
inline constexpr int views_ranks_max = 4096;

// A view of the job that this process has installed.
struct InstalledView {
  std::uint64_t epoch = 0;        // the first is 1, of all ranks, and is not told
  std::vector<int> lost;          // all ranks that are not in it, ascending
  std::int64_t detected_ns = 0;   // CLOCK_REALTIME, of the first loss since the view before; 0: of
                                  // none this process has heard
  std::int64_t decided_ns = 0;    // 0: another process has decided it
  std::int64_t installed_ns = 0;  // here
};

struct LifelineOptions {
  int rank = 0;
  auth::Secret secret{};
  std::string listen_address = "127.0.0.1";  // numeric IPv4 or IPv6
  std::int64_t tick_ns = 1'000'000;
  std::int64_t idle_tick_ns = 20'000'000;
  std::int64_t heartbeat_period_ns = 100'000'000;
  std::int64_t heartbeat_timeout_ns = 1'000'000'000;
  std::int64_t starved_grace_ns = 10'000'000'000;  // for a silent process that is not stopped
  // Whether it is more patient with others while it is starved itself (local_health.hpp); without
  // that only to measure what it is worth.
  bool heeds_local_health = true;
  std::function<void(const Loss&)> on_loss;  // once per lost rank; late, while there is no quorum
  // Whether there are views; without them on_view is never called. In jobs of more ranks than
  // views_ranks_max there are none.
  bool keeps_views = true;
  std::function<void(const InstalledView&)> on_view;  // may be empty
  // This process is cut off; `why` is a sentence about it. True: it lives on, and has no part in
  // the job any more, of which the caller has made sure. May be empty: it ends.
  std::function<bool(const std::string& why)> on_cut_off;
  std::function<void(int rank)> on_left;  // once per rank that said goodbye; may be empty
  // Every tick_ns or so; every idle_tick_ns once it has been false for as long. May be empty.
  std::function<bool()> on_tick;
  // `by` hears nothing of this process on their data link: answer there, then call say_at_work. May
  // be empty.
  std::function<void(int by)> on_question;
  // `rank` has answered: it is at work. May be empty.
  std::function<void(int rank)> on_at_work;
  // Some process has reported the link between the two as silent; may come often. May be empty.
  std::function<void(int one, int other)> on_silent_link;
};

class Lifeline {
 public:
  explicit Lifeline(LifelineOptions options);
  ~Lifeline();  // leaves, if that was not done
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  // Opens the listening port and the status page. The result is complete but for data_port.
  // Throws std::system_error if the address cannot be listened on.
  PeerAddress listen();

  // Starts the thread and comes back when the first links are up, at the latest after the handshake
  // deadline. `peers[i]` is the address of rank i, `tree` the same for all ranks. Soon after that
  // the end of this process counts in `death_marks`. REQUIRES: listen() was called; what
  // `death_marks` shows outlives this.
  void connect(std::span<const PeerAddress> peers, ViewTree tree,
               const DeathMarks& death_marks = {});

  // Says goodbye to all and ends the thread: nobody will report this process as lost. No callback
  // runs after it. REQUIRES: nobody needs anybody any more, for one who was linked with nobody that
  // is still there may from now on die and be taken for one that left; the caller holds no lock
  // that a callback takes.
  void leave();

  // The caller has reason to believe that `rank` is gone (a broken connection): look at it now.
  void suspect(int rank);

  // Nothing comes from `rank` on its data link with this process: is it at work? Its answer comes
  // by on_at_work, or never. `rank` is on another host.
  void ask_whether_at_work(int rank);
  // This process has answered `rank` on their data link.
  void say_at_work(int rank);
  // The data link with `rank`, which is on another host, is silent though both ends are at work:
  // after a heartbeat timeout one of the two is declared lost, if both still live then.
  void report_silent_link(int rank);

  // Connections to the listening port that were dropped before they proved to belong to the job.
  std::uint64_t rejected_connections() const;

  // How often this process has told the others that it does not hear one of them.
  std::uint64_t accusations() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace resprout::runtime
