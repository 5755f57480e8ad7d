// Whether the data link with one peer is silent, as seen by a process that waits for something of
// the peer's in an operation.
//
// FTCO (sections 3 and 4, Algorithms 1 to 5): a process asks with KEEPALIVE for what is due and
// has not come. The process that is asked answers ACK, whether it has entered or not. If it does
// not answer in time it is suspected. Here a process that does not answer may be starved, or at
// work in an operator of the program's, which is not a fault. So before it is accused the failure
// detector, whose connections are others, asks it whether it is at work; only if it says so, and
// still nothing comes, is it the link that is silent. docs/explanation/protocols/link_watch.md says
// what that is good for.
//
// Invariants
//  1. Nothing is asked before the peer was silent for `patience` while it was waited for.
//  2. A link is reported only if the peer was asked on it, said elsewhere that it is at work, and
//     nothing came for `patience` after that.
//  3. Whatever comes from the peer begins everything anew.
//
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/time.hpp"
#include "protocols/failure_detector/silence.hpp"

namespace resprout::protocols {

class LinkWatch {
 public:
  enum class Step : std::uint8_t {
    none,
    ask,           // KEEPALIVE, on the data link
    ask_detector,  // is it at work? By way of the failure detector
    report,        // the link is silent
  };

  // The peer is waited for from now on. `heard`: a count that grows whenever something comes.
  LinkWatch(Time now, std::uint64_t heard) : heard_(heard) { silence_.start(now); }

  // The peer is still waited for: what to do about it. Not twice at the same time.
  Step handle_look(Time now, std::uint64_t heard, Duration patience) {
    if (heard != heard_) {
      heard_ = heard;
      become(State::waiting, now);
    }
    if (silence_.length(now) < patience) return Step::none;
    switch (state_) {
      case State::waiting:
        become(State::asked, now);
        return Step::ask;
      case State::asked:
      case State::doubted:
        become(State::doubted, now);
        return Step::ask_detector;
      case State::at_work:
        become(State::at_work, now);
        return Step::report;
    }
    return Step::none;
  }

  // The peer says, elsewhere, that it is at work and has answered.
  void handle_at_work(Time now) {
    if (state_ == State::doubted) become(State::at_work, now);
  }

  // This process itself did not run for so long.
  void forgive(Time now, Duration late) { silence_.forgive(now, late); }

 private:
  enum class State : std::uint64_t {  // no bytes of chance: states are compared bytewise
    waiting,
    asked,    // on the link
    doubted,  // the failure detector was asked
    at_work,  // it is: if nothing comes now, it is the link
  };

  void become(State state, Time now) {
    state_ = state;
    silence_.start(now);
  }

  Silence silence_;  // since it came into this state
  std::uint64_t heard_;
  State state_ = State::waiting;
};

static_assert(std::has_unique_object_representations_v<LinkWatch>);

}  // namespace resprout::protocols
