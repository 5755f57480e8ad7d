// A scan along the chain of the ranks: each passes the sum of all up to itself on to the next one.
// docs/explanation/protocols/native.md says why all survivors count the same dead.
//
// A process takes the sum of the nearest process below that it does not suspect, or of one between
// them; it adds its own input, and sends that to the nearest one above that it does not suspect. If
// that one is suspected later, the same sum goes to the next.
//
// Invariants
//  1. A process takes one sum, and what it sends does not change: so everybody above it counts the
//     same contributions of those below it.
//  2. It takes none from below a process that it does not suspect: so nobody who lives is left out.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"

namespace resprout::protocols {

struct PrefixChainConfig {
  std::int32_t procs;
  // The input is not that of this process alone: it is the sum of all up to it already.
  bool is_summed = false;
};

class PrefixChain {
 public:
  // REQUIRES: `config` outlives the machine; 0 <= self < procs.
  PrefixChain(const PrefixChainConfig& config, Rank self);

  // The same as is_summed, of what was combined before `start`.
  void begin_summed() { step_ = Step::ending; }

  void start(const Context&) {}
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context&, Rank) {}

  // combine at most once, then exclude for each suspect in between, then deliver. What is combined
  // is of lower ranks than the accumulator.
  std::optional<Event> poll_event(const Context& context);

  // `contribution`, with the accumulator.
  std::optional<Message> poll_send(const Context& context);

  // Failures come as suspicions: there is nothing to wait for.
  Deadline poll_timeout(const Context&) const { return {}; }

  // As FtcoAllreduce's: whose sum is waited for.
  Rank next_due(const Context& context, std::int32_t& place) const;

 private:
  enum class Step : std::uint8_t {
    waiting,    // for the sum from below
    excluding,  // the cursor walks over the suspects between it and this process
    ending,     // the sum is there
    passing,    // it is told
  };

  Rank nearest(const Context& context, std::int32_t direction) const;
  Message own(MessageKind kind, Rank from, Rank to) const;
  Event take_from(const Message& below);

  const PrefixChainConfig* config_;
  std::int32_t self_;
  std::int32_t cursor_ = 0;
  Rank told_ = no_rank;  // who was sent the sum last
  Step step_ = Step::waiting;
  [[maybe_unused]] std::uint8_t padding_[3] = {};  // no bytes of chance: states are compared
};

static_assert(Machine<PrefixChain>);
static_assert(std::has_unique_object_representations_v<PrefixChain>);

}  // namespace resprout::protocols
