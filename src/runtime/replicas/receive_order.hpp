// In which order a replica gives the receives of its program to MPI, if some of them take a message
// from anybody.
//
// The replica that decides gives each one to MPI when the program starts it, and learns from MPI
// what a wildcard has taken. The others hold a wildcard back until they hear what it has taken
// there, and give it to MPI as a receive from that source with that tag. MPI matches receives in
// the order in which they are started (MPI 3.1, section 3.5): so behind one that is held back waits
// every later one that might take the same message, and nobody else.
//
// No receive may be shown to be complete before it is decided what earlier ones have taken that
// might have taken its message: then that is known to all before anything that follows from it.
//
// Messages of one source come in the same order everywhere, so all replicas match a receive with a
// source and MPI_ANY_TAG alike. But behind a wildcard that might take its message it is one itself:
// it does not wait for the other one if it has got another tag. Whether it is behind one, all
// replicas see alike: as long as the program has not completed that.
//
// Invariants
//  1. Of two receives that some message could be for, the earlier one is given to MPI first.
//  2. The n-th wildcard is the n-th that the program has started, in all replicas.
//  3. A wildcard that is not decided is given to MPI only by the replica that decides.
// Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace resprout::runtime {

class ReceiveOrder {
 public:
  static constexpr std::int32_t any = -1;
  static constexpr std::int32_t nobody = -2;  // as source: it was cancelled, and takes nothing
  using Ticket = std::uint64_t;

  struct Pattern {
    std::uint64_t communicator = 0;  // any name, as long as it is that of no other one
    std::int32_t source = any;
    std::int32_t tag = any;

    bool operator==(const Pattern&) const = default;
  };
  struct Match {
    std::uint64_t wildcard = 0;  // the first one is 1
    std::int32_t source = 0;
    std::int32_t tag = 0;
  };

  // A receive or a probe that need not wait for any receive before it.
  bool is_clear(const Pattern& pattern) const { return is_clear_before(last_ + 1, pattern); }
  // Nor for those before this one.
  bool is_clear_before(Ticket ticket, const Pattern& pattern) const;
  // A receive that has to be decided, or is not clear. Others may go without.
  bool needs_entry(const Pattern& pattern) const;
  // The program starts a receive.
  Ticket start(const Pattern& pattern);
  // What the n-th wildcard of the program takes; it may not have been started here yet.
  void decide(const Match& match);
  // The earliest receive that may be given to MPI now; it counts as given. `decides`: this replica.
  std::optional<Ticket> next_to_give(bool decides);
  // Where it is decided: what MPI has given to a wildcard. Nothing if it was decided before, or is
  // none.
  std::optional<Match> match_of(Ticket ticket, std::int32_t source, std::int32_t tag) const;
  // What the receive asks MPI for now: a wildcard that is decided, what it takes.
  const Pattern& pattern_of(Ticket ticket) const { return entry(ticket).pattern; }
  bool is_given(Ticket ticket) const { return entry(ticket).is_given; }
  bool is_decided(Ticket ticket) const { return entry(ticket).is_decided; }
  bool is_cancelled(Ticket ticket) const { return entry(ticket).pattern.source == nobody; }
  // Whether the program may see that MPI has completed it.
  bool may_complete(Ticket ticket) const;
  // The program has completed it, or it is taken back.
  void end(Ticket ticket);
  bool is_empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Ticket ticket = 0;
    Pattern asked;               // by the program
    Pattern pattern;             // of MPI
    std::uint64_t wildcard = 0;  // 0: it is none
    bool is_decided = false;     // or need not be
    bool is_given = false;
  };
  bool is_wild(const Pattern& pattern) const;
  static bool overlap(const Pattern& a, const Pattern& b);
  const Entry& entry(Ticket ticket) const;

  std::deque<Entry> entries_;               // in the order in which they were started
  std::map<std::uint64_t, Match> unknown_;  // decided of wildcards that were not started here
  Ticket last_ = 0;
  std::uint64_t wildcards_ = 0;
};

}  // namespace resprout::runtime
