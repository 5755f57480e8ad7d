// A scan that goes along a chain of messages of the library below, and what settles it when a loss
// has interrupted it. docs/explanation/protocols/native.md says why all survivors count the same.
//
// The library is modelled as what bears no fault: each process waits for the sum of the one below,
// and sends its own to the one above. It has returned as soon as it has its sum.
//   settlement  the same along a chain of our messages. Who suspects somebody, or hears of the
//               settlement, takes part, also after it has returned
//
// Invariants
//  1. `deliver` is said once: by the library or the settlement.
//  2. Who has begun the settlement takes nothing from the library any more.
//  3. Who has a sum from the library gives that sum to the settlement, and no other.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/prefix_chain/prefix_chain.hpp"

namespace resprout::protocols {

class NativeScan {
 public:
  using Config = PrefixChainConfig;

  // REQUIRES: `config` outlives the machine; 0 <= self < procs; no input is a sum.
  NativeScan(const Config& config, Rank self);

  void start(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);

  // combine and deliver from the library; what PrefixChain has from the settlement.
  std::optional<Event> poll_event(const Context& context);

  // `tree`: of the library, the sum. What PrefixChain has from the settlement.
  std::optional<Message> poll_send(const Context& context);

  // Failures come as suspicions: there is nothing to wait for.
  Deadline poll_timeout(const Context&) const { return {}; }

  // From here on this process takes part in the settlement.
  bool is_settling() const { return is_settling_ != 0; }
  bool has_returned() const { return has_returned_ != 0; }

 private:
  void become_settling(const Context& context);
  std::optional<Event> next_native_event(const Context& context);

  PrefixChain settlement_;
  const Config* config_;
  std::int32_t self_;
  std::uint8_t has_sum_ = 0;   // by the library
  std::uint8_t has_told_ = 0;  // the one above, by the library
  std::uint8_t is_settling_ = 0;
  std::uint8_t has_returned_ = 0;
};

static_assert(Machine<NativeScan>);
static_assert(std::has_unique_object_representations_v<NativeScan>);

}  // namespace resprout::protocols
