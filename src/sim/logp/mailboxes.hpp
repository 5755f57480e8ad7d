// The messages that machines wanted to be kept, and their payloads: one mailbox a process.
//
// Most protocols keep nothing: there is no memory for mailboxes until somebody keeps a message.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/context.hpp"
#include "core/event.hpp"

namespace resprout::sim {

template <typename Payload>
class Mailboxes {
 public:
  explicit Mailboxes(std::int32_t procs) : procs_(static_cast<std::size_t>(procs)) {}

  bool exist() const { return !boxes_.empty(); }
  void clear() { boxes_.clear(); }

  // Into the mailbox of the one it was sent to.
  void keep(const Message& message, const Payload& payload) {
    if (boxes_.empty()) boxes_.resize(procs_);
    at(message.to).messages.push_back(message);
    at(message.to).payloads.push_back(payload);
  }

  // Valid until something is kept or dropped. REQUIRES: they exist, here and below.
  Mailbox view(Rank rank) {
    const auto& messages = at(rank).messages;
    return {messages.data(), static_cast<std::uint32_t>(messages.size())};
  }

  // Fetches the mailbox of `rank` into the cache, as it will be used soon.
  void expect(Rank rank) const {
    if (exist()) __builtin_prefetch(&boxes_[static_cast<std::size_t>(index(rank))]);
  }

  // The payload of a kept message, null if it is not kept.
  const Payload* find(Rank rank, const Message& message) {
    const auto& [messages, payloads] = at(rank);
    const auto found = std::find(messages.begin(), messages.end(), message);
    return found == messages.end() ? nullptr
                                   : &payloads[static_cast<std::size_t>(found - messages.begin())];
  }

  // What the event says that is not needed any more.
  void drop(Rank rank, const Event& event) {
    const bool is_taken = event.kind == EventKind::combine || event.kind == EventKind::adopt;
    std::int64_t obsolete_below = 0;
    if (event.kind == EventKind::restart) obsolete_below = event.subject.round;
    if (event.kind == EventKind::deliver) obsolete_below = std::int64_t{event.subject.round} + 1;
    auto& [messages, payloads] = at(rank);
    for (std::size_t i = messages.size(); i-- > 0;) {
      const bool is_obsolete = messages[i].round < obsolete_below;
      if (!is_obsolete && !(is_taken && messages[i] == event.subject)) continue;
      messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
      payloads.erase(payloads.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  struct Box {
    std::vector<Message> messages;
    std::vector<Payload> payloads;
  };

  Box& at(Rank rank) { return boxes_[static_cast<std::size_t>(index(rank))]; }

  std::size_t procs_;
  std::vector<Box> boxes_;
};

}  // namespace resprout::sim
