// A gather that is left to the library below, and what settles it when a loss has interrupted it.
// docs/explanation/protocols/native.md says why nothing of the living is missing at the root.
//
// The library is modelled as what bears no fault: everybody sends what it gives to the root, and
// has ended well then. It has ended well at the root when that has all.
//   settlement  an FTCO reduce of the same inputs. Who suspects somebody, or hears of the
//               settlement, takes part, also after it has returned
//
// Invariants
//  1. `deliver` is said once: by the library or the settlement.
//  2. Who has begun the settlement takes nothing from the library any more.
//  3. What a process gives to the settlement is what it has given to the library.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

namespace resprout::protocols {

struct NativeGatherConfig {
  NativeGatherConfig(std::int32_t processes, std::int32_t radix)
      : procs(processes), settlement{processes, radix, rank_at(0), false} {}

  std::int32_t procs;
  FtcoAllreduceConfig settlement;
};

class NativeGather {
 public:
  using Config = NativeGatherConfig;

  // Rank 0 is the root. REQUIRES: `config` outlives the machine; 0 <= self < procs.
  NativeGather(const Config& config, Rank self);

  void start(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);

  // combine and deliver from the library; a restart when the settlement begins at a root that has
  // combined something; what FtcoAllreduce has from the settlement.
  std::optional<Event> poll_event(const Context& context);

  // `tree`: of the library, the input. What FtcoAllreduce has from the settlement.
  std::optional<Message> poll_send(const Context& context);

  // Failures come as suspicions: there is nothing to wait for.
  Deadline poll_timeout(const Context&) const { return {}; }

  // From here on this process takes part in the settlement.
  bool is_settling() const { return is_settling_ != 0; }
  bool has_returned() const { return has_returned_ != 0; }

 private:
  bool is_root() const { return self_ == 0; }
  Message own(MessageKind kind, Slot slot, std::int32_t to) const;
  void become_settling(const Context& context);
  std::optional<Event> next_native_event(const Context& context);

  FtcoAllreduce settlement_;
  const Config* config_;
  std::int32_t self_;
  std::int32_t cursor_ = 1;  // of the root: whose input is due
  std::uint8_t is_settling_ = 0;
  std::uint8_t has_given_ = 0;  // to the library
  std::uint8_t has_returned_ = 0;
  std::uint8_t has_to_restart_ = 0;
  [[maybe_unused]] std::uint32_t padding_ = 0;  // no bytes of chance: states are compared
};

static_assert(Machine<NativeGather>);
static_assert(std::has_unique_object_representations_v<NativeGather>);

}  // namespace resprout::protocols
