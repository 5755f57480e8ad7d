// What the sessions of this process have to come back to: operations, by session and number.
//
// It says what is due, not what to do about it: each function calls `act(session, number)` for what
// is due, and what `act` adds is due the next time.
//
// Thread rule: under the engine's lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/operation.hpp"

namespace resprout::runtime {

class Session;

class Agenda {
 public:
  // It has something to say that could not be sent yet.
  void flush_later(Session& session, std::uint64_t number) {
    if (to_flush_.empty() || !to_flush_.back().is(session, number))
      to_flush_.push_back({&session, number});
  }
  // Something is due at a time of its own.
  void wake_at_deadline(Session& session, std::uint64_t number) { add(timed_, session, number); }
  // It is over here, and the survivors have to settle it. That waits until there is nothing else to
  // do: whoever waits for one that runs does not wait for hundreds that are over. `is_next`: before
  // all others.
  void settle_later(Session& session, std::uint64_t number, bool is_next = false) {
    to_settle_.insert(is_next ? to_settle_.begin() : to_settle_.end(), {&session, number});
  }
  // A thread of the program has to tell it what it missed.
  void catch_up_later(Session& session, std::uint64_t number) {
    add(to_catch_up_, session, number);
  }
  // The session has tasks.
  void attend_to(Session& session) { with_tasks_.push_back(&session); }
  // Keeps a forgotten operation until the transport has read what it sent.
  void linger(std::unique_ptr<Operation> operation) { lingering_.push_back(std::move(operation)); }

  bool has_unsent() const { return !to_flush_.empty(); }
  bool has_deadlines() const { return !timed_.empty(); }
  bool has_tasks() const { return !with_tasks_.empty(); }
  bool has_missed() const { return !to_catch_up_.empty(); }
  bool is_empty() const {
    return to_flush_.empty() && timed_.empty() && to_settle_.empty() && to_catch_up_.empty() &&
           with_tasks_.empty() && lingering_.empty();
  }
  std::size_t unsent_count() const { return to_flush_.size(); }

  template <typename Act>
  void flush(Act act) {
    flushing_.clear();
    flushing_.swap(to_flush_);
    for (const Entry& entry : flushing_) act(*entry.session, entry.number);
  }
  // `act` returns true if it is to be woken again.
  template <typename Act>
  void wake(Act act) {
    const std::vector<Entry> entries = std::exchange(timed_, {});
    for (const Entry& entry : entries)
      if (act(*entry.session, entry.number)) timed_.push_back(entry);
  }
  template <typename Act>
  void catch_up(Act act) {
    const std::vector<Entry> entries = std::exchange(to_catch_up_, {});
    for (const Entry& entry : entries) act(*entry.session, entry.number);
  }
  // The one that was added first. False: there is none.
  template <typename Act>
  bool settle_one(Act act) {
    if (to_settle_.empty()) return false;
    const Entry entry = to_settle_.front();
    to_settle_.pop_front();
    act(*entry.session, entry.number);
    return true;
  }
  // `act(session)` returns true if the session has no more tasks.
  template <typename Act>
  void advance_tasks(Act act) {
    std::erase_if(with_tasks_, [&](Session* session) { return act(*session); });
  }
  void drop_what_is_sent() {
    std::erase_if(lingering_, [](const auto& operation) { return !operation->is_being_sent(); });
  }
  // The session ends. REQUIRES: it has no tasks.
  void forget(const Session& session) {
    const auto is_of_it = [&](const Entry& entry) { return entry.session == &session; };
    std::erase_if(to_flush_, is_of_it);
    std::erase_if(timed_, is_of_it);
    std::erase_if(to_settle_, is_of_it);
    std::erase_if(to_catch_up_, is_of_it);
  }

 private:
  struct Entry {
    Session* session;
    std::uint64_t number;

    bool is(const Session& of, std::uint64_t with) const {
      return session == &of && number == with;
    }
  };

  static void add(std::vector<Entry>& entries, Session& session, std::uint64_t number) {
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.is(session, number); }))
      entries.push_back({&session, number});
  }

  std::vector<Entry> to_flush_;
  std::vector<Entry> flushing_;  // its memory is used again
  std::vector<Entry> timed_;
  // The youngest of a session first, as they may be waited for; but of gathers the oldest, whose
  // root is the furthest behind.
  std::deque<Entry> to_settle_;
  std::vector<Entry> to_catch_up_;
  std::vector<Session*> with_tasks_;
  std::vector<std::unique_ptr<Operation>> lingering_;
};

}  // namespace resprout::runtime
