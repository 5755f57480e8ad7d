// A process of a program that revokes: the revoke machine, and the program's decision, which comes
// by time. Where there is no time but a chooser, it comes when the chooser likes.
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocols/revoke/revoke.hpp"

namespace resprout::sim {

// The program of this process revokes, whatever it has heard by then.
struct Revocation {
  Rank rank;
  Time at;
};

struct RevokerConfig {
  protocols::RevokeConfig revoke;
  std::vector<Revocation> initiators;  // by rank, each once
};

class Revoker {
 public:
  // REQUIRES: 0 <= self < config.revoke.procs.
  Revoker(const RevokerConfig& config, Rank self) : revoke_(config.revoke, self) {
    const auto found = std::lower_bound(
        config.initiators.begin(), config.initiators.end(), self,
        [](const Revocation& revocation, Rank rank) { return revocation.rank < rank; });
    if (found != config.initiators.end() && found->rank == self) decides_ = found->at;
  }

  void start(const Context& context) { revoke_.start(context); }
  Disposition handle_message(const Context& context, const Message& message) {
    return revoke_.handle_message(context, message);
  }
  void handle_timeout(const Context& context) {
    if (context.now < decides_) return;
    decides_ = never;
    revoke_.revoke(context);
  }
  void handle_suspicion(const Context& context, Rank rank) {
    revoke_.handle_suspicion(context, rank);
  }
  std::optional<Event> poll_event(const Context& context) { return revoke_.poll_event(context); }
  std::optional<Message> poll_send(const Context& context) { return revoke_.poll_send(context); }
  Deadline poll_timeout(const Context&) const {
    return {decides_, "the program's decision to revoke"};
  }

 private:
  protocols::Revoke revoke_;
  Time decides_ = never;
};

static_assert(Machine<Revoker> && std::has_unique_object_representations_v<Revoker>);

}  // namespace resprout::sim
