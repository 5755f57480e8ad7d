// The links between the hosts of a job: a binomial graph over the living (Plan B, section 4), that
// carries heartbeats to the neighbours and news to everybody, each process passing it on once.
//
// Suspicion: an established link that closes, or a neighbour that refuses to be connected to, is
// looked at at once: if nobody listens on its port any more, it is dead, or it has left, if there
// never was a link and others have left before. A neighbour that is silent is accused; unless
// somebody (it, or a process on its host) answers in time, it is unreachable, and so it is if it
// stays silent for long whatever others say.
//
// Of data links, which are others, it carries what their ends ask, answer and report, and decides
// who goes if one is silent (cuts.hpp).
//
// On one host alone everybody sees everybody's death, and there are no links; but on one host and
// on several a message of the membership (views.hpp) opens one to whom there is none yet. It stays.
//
// Thread rule: the lifeline's thread, but for `rejected` and `accusations`.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "protocols/failure_detector/local_health.hpp"
#include "protocols/failure_detector/silence.hpp"
#include "runtime/lifeline/cuts.hpp"
#include "runtime/lifeline/findings.hpp"
#include "runtime/lifeline/link.hpp"
#include "runtime/lifeline/roster.hpp"

namespace resprout::runtime {

class Overlay {
 public:
  // Descriptors are added to `poller` under first_key + a serial number.
  Overlay(const LifelineOptions& options, protocols::LocalHealth& health, const Roster& roster,
          Findings& findings, Poller& poller, std::uint64_t first_key)
      : options_(options),
        health_(health),
        roster_(roster),
        findings_(findings),
        poller_(poller),
        first_key_(first_key) {}

  void start(std::vector<PeerAddress> peers, std::int64_t now);

  void handle_connection(Fd socket, std::int64_t now);
  void handle_event(std::uint32_t serial, std::int64_t now);
  // Often: retries and deadlines.
  void handle_time(std::int64_t now);
  // Once per heartbeat period; `starved_ns` is the time that this process could not run before.
  void handle_heartbeat(std::int64_t now, std::int64_t starved_ns);

  // To be passed on: it was news to this process.
  void spread(const News& news);
  // `rank` is no longer alive; its place in the graph is taken over at `heal_at`.
  void handle_gone(int rank, std::int64_t heal_at);
  void look_at(int rank, std::int64_t now);
  // A message of the membership, in order with all others to `rank` as long as no link breaks. If
  // `rank` is lost, and its process is found to have ended meanwhile, that is told as a loss again.
  void send(int rank, std::span<const std::uint8_t> message, std::int64_t now);

  // As the lifeline's functions of these names. Nothing happens if `rank` is on this host.
  void ask_whether_at_work(int rank);
  void say_at_work(int rank);
  void report_silent_link(int rank, std::int64_t now);

  // This process is cut off: nothing more is said or heard.
  void close() { links_.clear(); }

  bool is_needed() const { return is_needed_; }
  std::span<const PeerAddress> peers() const { return peers_; }
  // Every link that this process keeps of its own accord is there.
  bool is_connected() const;
  // Somebody who listens has not yet been told all.
  bool has_unsaid() const;
  std::uint64_t rejected() const { return rejected_.load(std::memory_order_relaxed); }
  std::uint64_t accusations() const { return accusations_.load(std::memory_order_relaxed); }

 private:
  using LinkMap = std::map<std::uint32_t, Link>;  // by serial: by age

  // What this process thinks of a rank on another host.
  struct Watch {
    bool was_established = false;  // there was a link
    int refusals = 0;              // since anything was heard
    std::int64_t retry_at = 0;
    protocols::Silence silence;
    std::int64_t accused_at = 0;  // 0: not accused
    bool is_answered = false;     // by somebody who knows it to be alive
  };

  bool is_remote(int rank) const;
  Watch& watch(int rank) { return watches_[static_cast<std::size_t>(rank)]; }
  bool has_link(int rank) const;
  Link* channel(int rank);
  void want(int rank, std::int64_t now);
  void connect(int rank, std::int64_t now);
  void add(Link link);
  void sweep(std::int64_t now);
  std::string place_of(Link& link) const;
  void handle_established(Link& link, std::int64_t now);
  void handle_end(int rank, Link::State end, std::int64_t now);
  void handle_news(int from, const News& news, std::int64_t now);
  void handle_message(int from, std::span<const std::uint8_t> message, std::int64_t now);
  void handle_accusation(const News& news);
  void watch_silence(int rank, std::int64_t now, std::int64_t starved_ns);
  void handle_question(const News& news);
  void decide_on_cuts(std::int64_t now);
  void report(int rank, LossKind kind, int found_by);
  void report(int rank, LossKind kind) { report(rank, kind, options_.rank); }
  void drop_oldest_stranger();
  bool is_new(const News& news);

  const LifelineOptions& options_;
  protocols::LocalHealth& health_;
  const Roster& roster_;
  Findings& findings_;
  Poller& poller_;
  const std::uint64_t first_key_;

  std::vector<PeerAddress> peers_;
  bool is_needed_ = false;  // there is more than one host
  LinkMap links_;           // erased by `sweep` only
  std::uint32_t next_serial_ = 0;
  std::map<int, std::uint32_t> channels_;   // the link that messages to a rank take
  std::set<int> wanted_;                    // living ranks to which this process keeps links
  std::vector<Watch> watches_;              // by rank
  std::int64_t heal_at_ = 0;                // 0: nothing to heal
  std::vector<News> known_;                 // who is gone: told to every new neighbour
  std::uint32_t serial_ = 0;                // of accusations, questions and reports
  std::map<int, std::uint32_t> questions_;  // that were asked last, by who asked
  Cuts cuts_;
  std::set<std::tuple<NewsKind, int, std::uint32_t>> seen_;  // kind, accuser, serial
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> accusations_{0};
};

}  // namespace resprout::runtime
