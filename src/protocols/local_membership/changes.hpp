// What a process with a local view knows of single identifiers: a few of them, with what it knows.
//
// Sorted by identifier, in memory of a fixed size: so many as there is room for. Equal knowledge is
// equal bytes.
//
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/rank.hpp"

namespace resprout::protocols {

struct Change {
  // What may be known of an identifier, and what is due because of it.
  enum : std::uint32_t {
    hole = 1u << 0,        // no member of the view
    fenced = 1u << 1,      // suspected: nobody who knows that listens to it
    dead = 1u << 2,        // its process has ended, for certain
    sure = 1u << 3,        // it is a member of the view, for certain
    counted = 1u << 4,     // it is known what the reach is without it
    removed = 1u << 5,     // not in the accepted next view
    in_wave = 1u << 6,     // the wave that this process is in goes around it
    told = 1u << 7,        // the coordinator has been told that it is fenced
    told_dead = 1u << 8,   // and that it is dead
    detect_due = 1u << 9,  // events that have not been polled
    leave_due = 1u << 10,
    view_due = 1u << 11,  // messages that have not been polled
    probe_due = 1u << 12,
    asked = 1u << 13,      // it has asked this process for admission
    joins = 1u << 14,      // it wants to be admitted: the coordinator knows it
    added = 1u << 15,      // no member of this view, and in the accepted next one
    unclear = 1u << 16,    // whether it is a member is not known
    leaf = 1u << 17,       // the wave goes to it, as to one who is admitted
    enter_due = 1u << 18,  // an event
    leaf_due = 1u << 19,   // a message
    // Of a joiner:
    contact = 1u << 20,  // a member, as far as it knows, that it may ask
    tried = 1u << 21,    // it does not answer, or is none
  };

  Rank id = no_rank;
  std::uint32_t what = 0;

  constexpr bool is(std::uint32_t all_of) const { return (what & all_of) == all_of; }
  constexpr bool operator==(const Change&) const = default;
};

template <std::size_t Room>
class Changes {
 public:
  static constexpr std::int32_t room = static_cast<std::int32_t>(Room);

  constexpr std::int32_t size() const { return size_; }
  constexpr Change* begin() { return all_.data(); }
  constexpr Change* end() { return all_.data() + size_; }
  constexpr const Change* begin() const { return all_.data(); }
  constexpr const Change* end() const { return all_.data() + size_; }

  // What is known of it; nothing: 0.
  constexpr std::uint32_t of(Rank id) const {
    const Change* at = place_of(id);
    return at != end() && at->id == id ? at->what : 0;
  }
  constexpr bool is(Rank id, std::uint32_t all_of) const { return (of(id) & all_of) == all_of; }

  // Adds to what is known. False: there is no room for one more.
  constexpr bool note(Rank id, std::uint32_t what) {
    auto place = static_cast<std::size_t>(place_of(id) - begin());
    if (place < static_cast<std::size_t>(size_) && all_[place].id == id) {
      all_[place].what |= what;
      return true;
    }
    if (size_ == room) return false;
    for (auto i = static_cast<std::size_t>(size_); i > place; --i) all_[i] = all_[i - 1];
    all_[place] = {id, what};
    ++size_;
    return true;
  }
  // Forgets `what` of all; who has nothing left but `idle` is forgotten.
  constexpr void forget(std::uint32_t what, std::uint32_t idle = 0) {
    for (Change& change : *this) change.what &= ~what;
    std::size_t left = 0;
    for (const Change& change : *this)
      if ((change.what & ~idle) != 0) all_[left++] = change;
    while (size_ > static_cast<std::int32_t>(left)) all_[static_cast<std::size_t>(--size_)] = {};
  }
  // Forgets `what` of one of them.
  constexpr void drop(Rank id, std::uint32_t what) {
    for (Change& change : *this)
      if (change.id == id) change.what &= ~what;
  }
  // The first of whom all this is known; null: there is none.
  constexpr Change* find(std::uint32_t all_of) {
    for (Change& change : *this)
      if (change.is(all_of)) return &change;
    return nullptr;
  }
  // Takes what is due from the first one; no_rank: there is none.
  constexpr Rank take(std::uint32_t due) {
    Change* first = find(due);
    if (first == nullptr) return no_rank;
    first->what &= ~due;
    return first->id;
  }
  constexpr std::int32_t count(std::uint32_t all_of) const {
    std::int32_t sum = 0;
    for (const Change& change : *this) sum += change.is(all_of) ? 1 : 0;
    return sum;
  }

  constexpr bool operator==(const Changes&) const = default;

 private:
  constexpr const Change* place_of(Rank id) const {
    return std::lower_bound(begin(), end(), id,
                            [](const Change& change, Rank other) { return change.id < other; });
  }

  std::int32_t size_ = 0;
  [[maybe_unused]] std::int32_t padding_ = 0;
  std::array<Change, Room> all_{};
};

}  // namespace resprout::protocols
