// The data links of this process to peers on other hosts, watched while an operation waits for them
// (docs/explanation/protocols/link_watch.md).
//
// A question (KEEPALIVE) is answered (ACK) by the peer's engine, in whichever thread drives it, so
// nobody has to have entered anything. While nobody is late nothing is sent and nothing is kept.
// Once a link is reported as silent, all processes on its two hosts try all links between them, so
// that a cut costs the time of one link and not that of one after the other.
//
// Thread rule: under the engine's lock, but for the `note_` functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/time.hpp"
#include "protocols/link_watch/link_watch.hpp"
#include "runtime/members.hpp"
#include "runtime/mutex.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

// Frames of links carry it in the place of a communicator.
inline constexpr std::uint64_t links_id = 0;

// How links are watched, and what the failure detector does about it. All functions are called
// under the engine's lock and must not wait.
struct LinkWatching {
  Duration patience_ns = 0;                    // with a silent peer; 0: no link is watched
  std::vector<int> hosts;                      // of each rank, as the lowest rank on it
  std::function<void(int rank)> ask_detector;  // is it at work?
  std::function<void(int rank)> say_at_work;   // this process has answered it, or tried for long
  std::function<void(int rank)> report;        // the link with it is silent
};

class Links {
 public:
  Links(int self, Transport& transport) : self_(self), transport_(transport) {}

  void watch(LinkWatching watching) { watching_ = std::move(watching); }
  bool is_watching() const { return watching_.patience_ns != 0; }
  Duration look_period_ns() const { return watching_.patience_ns / 8; }

  // Of the members of a session, which this process is one of, one on each other host, or none on
  // some: such that of any two hosts some process asks another one if all members ask those that
  // this gives them. With H hosts of r ranks that is H / r for each process. World ranks, valid
  // until the next call. REQUIRES: is_watching().
  const std::vector<int>& one_on_each_host(std::uint64_t session, const Members& members);

  // Once per `look_period_ns` or so. `awaited`: world ranks; `is_lost` tells which of all are lost.
  void look(Time now, std::set<int> awaited, const std::function<bool(int)>& is_lost);
  void handle_frame(int peer, const Message& message);
  // Sends what could not be sent.
  void flush();
  bool has_unsent() const { return !unsent_.empty(); }

  // From any thread. The peer hears nothing of this process, and wants to know whether it is at
  // work; the peer has said that it is; the link between two ranks was reported as silent. They
  // take effect with `handle_notes`.
  void note_question(int by);
  void note_at_work(int rank);
  void note_silent_link(int one, int other);
  void handle_notes(Time now);

 private:
  int host(int rank) const { return watching_.hosts[static_cast<std::size_t>(rank)]; }
  void doubt_links_with(int host);
  bool try_send(int peer, MessageKind kind);
  void send(int peer, MessageKind kind);
  void answer_questions(Time now);
  void take(int rank, protocols::LinkWatch::Step step);

  const int self_;
  Transport& transport_;
  LinkWatching watching_;
  std::map<int, protocols::LinkWatch> watches_;  // of those who are awaited
  // Tried though nobody may wait for them, until something comes: what had been heard before.
  std::map<int, std::uint64_t> doubted_;
  std::map<std::uint64_t, std::vector<int>> on_other_hosts_;  // by session, of some
  Time looked_at_{};
  std::set<std::pair<int, MessageKind>> unsent_;
  std::map<int, Time> unanswered_;  // questions of the failure detector's, since when
  Transfer transfer_;
  Mutex notes_mutex_;
  std::vector<int> questions_ RESPROUT_GUARDED_BY(notes_mutex_);
  std::vector<int> at_work_ RESPROUT_GUARDED_BY(notes_mutex_);
  std::vector<std::pair<int, int>> silent_ RESPROUT_GUARDED_BY(notes_mutex_);
};

}  // namespace resprout::runtime
