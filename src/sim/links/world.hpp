// A world for the watch over data links: one operation in which everybody waits for something of
// everybody else's, over links that may lose all from some moment on. Everything that may happen
// next is an action, and somebody else chooses, as in sim/adversary/world.hpp. What is different:
//
//  1. There is time, in units, and it passes for all at once: as an action. Before it does, what
//     was on its way when the last unit began has arrived, and everybody has looked at its links
//     once. This is what the watch relies on: a message takes less than a patience.
//  2. But a process may be starved: it neither looks nor reads, for some units. Then it reads what
//     was on its way when the last of them began, from its data links and then from the lifeline,
//     and looks, late. And a process comes to the operation at any time; until then it looks and
//     reads, but sends nothing of its own. All of this together lasts for `late_units` at most.
//  3. A link, or all links between two hosts, may be cut: what is on its way is lost, and all that
//     is sent later. The lifeline's connections are others, and lose nothing.
//  4. Who dies is known to all by a message of the lifeline. Who is told that it has to go is gone.
//
// While it runs the world itself checks that no link is reported that brings what is sent on it,
// and that nobody has to go but who is at the end of a link that was cut. Thread rule: a value; a
// copy is a fork.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocols/link_watch/link_watch.hpp"
#include "registry/spec.hpp"
#include "sim/adversary/world.hpp"
#include "sim/links/outcome.hpp"

namespace resprout::sim {

// A rule that is broken on purpose, to see that it is found.
enum class LinksDefect : std::uint8_t {
  none,
  detector,  // each process counts as being at work
  reading,   // who was starved looks before it reads
  answers,   // who was starved reads later what the lifeline has brought, old answers among it
  verdict,   // each end of a silent link decides that the other one goes
};

struct LinksScene {
  int procs = 3;
  int ranks_per_host = 1;
  int cuts = 1;  // at most
  registry::CutKind cut = registry::CutKind::one_way;
  int patience = 2;  // units; REQUIRES: at least 2
  int late_units = 3;
  LinksDefect defect = LinksDefect::none;
};

class LinksWorld {
 public:
  static constexpr int procs_max = 16;

  // REQUIRES: scene.procs <= procs_max.
  explicit LinksWorld(const LinksScene& scene);

  int procs() const { return scene_.procs; }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool is_doomed(int rank) const { return at(rank).has_died; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return messages_sent_; }
  int cuts_made() const { return cuts_made_; }

  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const LinksWorld& world, const std::vector<Action>& actions);
  int apply(const Action& action);
  void deliver_ignored(int) {}
  std::string describe(const Action& action) const;
  std::vector<LinksOutcome> outcomes() const;
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  enum class Kind : std::uint8_t {
    data,
    keepalive,
    acknowledgment,
    question,
    at_work,
    silent,
    lost
  };
  struct Parcel {
    std::uint8_t from, to;
    Kind kind;
    bool is_old = false;                // it was on its way when this unit began
    std::uint8_t about = 0, other = 0;  // who is lost; or the ends of the silent link

    // On the data link, not on the lifeline's: two orders of arrival.
    bool is_data() const { return kind <= Kind::acknowledgment; }
  };
  static_assert(std::has_unique_object_representations_v<Parcel>);

  struct Noted {
    std::uint8_t low, high;
    std::uint8_t age;  // units, up to the patience
  };
  using Bits = std::uint32_t;  // one a rank
  // How often something has come from a peer, as far as anybody compares it: it is changed to
  // another value than those that are remembered.
  struct Hearing {
    std::uint8_t count = 0;
    std::uint8_t at_look = 0;
    std::uint8_t at_doubt = 0;
  };

  struct Process {
    std::vector<std::optional<protocols::LinkWatch>> watches;  // by peer
    std::vector<Hearing> hearing;                              // likewise
    std::vector<Noted> noted;
    Bits got = 0;                     // whose data have come
    Bits lost = 0;                    // of whom it was told so
    Bits doubted = 0;                 // whose links are tried though nobody may wait for them
    std::uint8_t not_looked_for = 0;  // units
    bool is_alive = true;
    bool has_died = false;
    bool had_to_go = false;
    bool has_entered = false;
    bool is_starved = false;
    bool was_starved = false;  // is it, and time has passed since
    bool has_looked = false;   // in this unit
  };

  const Process& at(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  Process& own(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  int host(int rank) const { return rank - rank % scene_.ranks_per_host; }
  bool is_cut(int from, int to) const {
    return (cut_[static_cast<std::size_t>(from)] >> to & 1) != 0;
  }
  bool is_awake(int rank) const { return at(rank).is_alive && !at(rank).is_starved; }
  Bits awaited(int rank) const;
  bool has_ended(int rank) const { return at(rank).has_entered && awaited(rank) == 0; }
  bool is_anybody_late() const;
  bool is_over() const;
  bool may_time_pass() const;
  std::size_t first_of(int from, int to, bool of_data) const;

  void enter(int rank);
  void deliver(int from, int to, bool of_data);
  void read_old(int rank, bool of_data);
  void pass_time();
  void look(int rank);
  void take(int rank, int peer, protocols::LinkWatch::Step step);
  void judge(int rank);
  void decide(int rank, int loser, int found_by);
  void note_silent(int rank, int one, int other);
  void note_lost(int rank, int loser);
  void cut(int from, int to);
  void crash(int rank);
  void post(int from, int to, Kind kind, int about = 0, int other = 0);
  void post_all(int from, Kind kind, int about, int other = 0);
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "process " + std::to_string(rank) + " " + what;
  }

  LinksScene scene_;
  std::vector<Process> processes_;
  std::array<Bits, procs_max> cut_{};  // by sender
  std::vector<Parcel> in_flight_;      // by age
  int cuts_made_ = 0;
  int late_left_;
  std::uint64_t messages_sent_ = 0;
  std::string violation_;
};

}  // namespace resprout::sim
