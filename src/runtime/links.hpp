// The data links of this process to peers on other hosts, watched while an operation waits for them
// (docs/protocols/link_watch.md).
//
// A question (KEEPALIVE) is answered (ACK) by the peer's engine, in whichever thread drives it, so
// nobody has to have entered anything. While nobody is late nothing is sent and nothing is kept.
//
// Thread rule: under the engine's lock, but for `note_question` and `note_at_work`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "core/time.hpp"
#include "protocols/link_watch/link_watch.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

// Frames of links carry it in the place of a communicator.
inline constexpr std::uint64_t links_id = 0;

// How links are watched, and what the failure detector does about it. All functions are called
// under the engine's lock and must not wait.
struct LinkWatching {
  Duration patience_ns = 0;                    // with a silent peer; 0: no link is watched
  std::function<bool(int rank)> is_watched;    // it is on another host
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

  // Once per `look_period_ns` or so. `awaited`: world ranks, living ones.
  void look(Time now, const std::set<int>& awaited);
  void handle_frame(int peer, const Message& message);
  // Sends what could not be sent.
  void flush();
  bool has_unsent() const { return !unsent_.empty(); }

  // From any thread. The peer hears nothing of this process, and wants to know whether it is at
  // work; the peer has said that it is. They take effect with `handle_notes`.
  void note_question(int by);
  void note_at_work(int rank);
  void handle_notes(Time now);

 private:
  bool try_send(int peer, MessageKind kind);
  void send(int peer, MessageKind kind);
  void answer_questions(Time now);
  void take(int rank, protocols::LinkWatch::Step step);

  const int self_;
  Transport& transport_;
  LinkWatching watching_;
  std::map<int, protocols::LinkWatch> watches_;  // of those who are awaited
  Time looked_at_{};
  std::set<std::pair<int, MessageKind>> unsent_;
  std::map<int, Time> unanswered_;  // questions of the failure detector's, since when
  Transfer transfer_;
  std::mutex notes_mutex_;
  std::vector<int> questions_;
  std::vector<int> at_work_;
};

}  // namespace resprout::runtime
