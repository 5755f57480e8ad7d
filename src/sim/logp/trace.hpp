// What happened in a run, message by message and event by event, for those who want to look at it.
// Thread rule: one thread.
#pragma once

#include <utility>
#include <vector>

#include "sim/logp/engine.hpp"

namespace resprout::sim {

struct Trace {
  struct Sent {
    Message message;
    Flight flight;
  };
  struct Said {
    Time at;
    Rank rank;
    EventKind kind;
  };
  std::vector<Sent> messages;  // in the order of their starts
  std::vector<Said> events;    // in the order in which they were said
};

constexpr const char* name_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::tree:
      return "tree";
    case MessageKind::correction:
      return "correction";
    case MessageKind::pull:
      return "pull";
    case MessageKind::supply:
      return "supply";
    case MessageKind::contribution:
      return "contribution";
    case MessageKind::result:
      return "result";
    case MessageKind::heartbeat:
      return "heartbeat";
    case MessageKind::acknowledgment:
      return "acknowledgment";
    case MessageKind::keepalive:
      return "keepalive";
    case MessageKind::revocation:
      return "revocation";
  }
  return "unknown";
}

constexpr const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::colored:
      return "colored";
    case EventKind::combine:
      return "combine";
    case EventKind::adopt:
      return "adopt";
    case EventKind::restart:
      return "restart";
    case EventKind::exclude:
      return "exclude";
    case EventKind::deliver:
      return "deliver";
    case EventKind::fail:
      return "fail";
    case EventKind::suspect:
      return "suspect";
    case EventKind::revoked:
      return "revoked";
  }
  return "unknown";
}

// Writes all that `Inner` sees into a trace.
template <Observer Inner>
class Traced {
 public:
  using Payload = typename Inner::Payload;

  Traced(Inner& inner, Trace& trace) : inner_(inner), trace_(trace) {}

  Payload on_send(const Message& message, const Flight& flight) {
    trace_.messages.push_back({message, flight});
    return inner_.on_send(message, flight);
  }
  void on_receive(Time now, const Message& message) { inner_.on_receive(now, message); }
  void on_event(Time now, Rank rank, const Event& event, const Payload* payload) {
    trace_.events.push_back({now, rank, event.kind});
    inner_.on_event(now, rank, event, payload);
  }

 private:
  Inner& inner_;
  Trace& trace_;
};

}  // namespace resprout::sim
