// An allreduce that waits for no process longer than it has patience: who has not made its call by
// then is left out, by all alike. It lives on, gets the result, and gives what it owes in its next
// call (owed.hpp). docs/explanation/protocols/patient_allreduce.md says why nothing is lost, or
// counted twice.
//
// FtcoAllreduce with a question. A process that has waited since its call for as long as it has
// patience asks all from whom a message is due, and is impatient from then on. Who is asked is
// impatient, too, and asks on. If its call has not come it is *late*: it takes part without a
// contribution, and leaves itself out as it would leave out a lost one.
//
// Invariants
//  1. A process is late if it was asked before its call, and only then. So it knows at its call.
//  2. A late process contributes nothing in any round, the others contribute the same in all.
//  3. So among survivors the late ones, and only those, are left out of the result.
//  4. Who is impatient has asked everybody from whom something is due, also after a suspicion.
//
// The driver starts the machine as soon as it may hear of the operation, which may be long before
// the call: a process that computes has to answer.
// Thread rule: none, a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

namespace resprout::protocols {

struct PatientAllreduceConfig {
  PatientAllreduceConfig(std::int32_t processes, std::int32_t radix, Duration until_asked)
      : allreduce{processes, radix, rank_at(0), true}, patience(until_asked) {}

  FtcoAllreduceConfig allreduce;
  Duration patience;
};

class PatientAllreduce {
 public:
  using Config = PatientAllreduceConfig;

  // REQUIRES: `config` outlives the machine; 0 <= self < procs.
  PatientAllreduce(const Config& config, Rank self);

  // The operation may be heard of from here on. Its call comes later, by handle_call.
  void start(const Context&) {}
  // The program has made its call. If this process is late by then its input stays out of the
  // operation: it is owed. REQUIRES: once, after start.
  void handle_call(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context& context);
  void handle_suspicion(const Context& context, Rank rank);

  // combine, adopt, exclude, restart, deliver. A late process empties its accumulator (restart with
  // slot none), and excludes itself. It may `deliver` before its call: the driver keeps the result.
  std::optional<Event> poll_event(const Context& context);

  // `contribution` and `result`, as FtcoAllreduce has them; `pull`: the receiver is asked. What is
  // in slot accumulator may be nothing but exclusions, and so may a result.
  std::optional<Message> poll_send(const Context& context);

  // Between its call and the result: when its patience ends.
  Deadline poll_timeout(const Context& context) const;

  bool has_called() const { return has_called_ != 0; }
  bool is_late() const { return is_late_ != 0; }

 private:
  bool is_in() const { return has_called() || is_late(); }
  void become_late(const Context& context);
  Message own(MessageKind kind, Rank to) const;
  std::optional<Message> next_question(const Context& context);

  FtcoAllreduce allreduce_;
  const Config* config_;
  Time asks_at_ = never;
  // Whom it has asked, as FtcoAllreduce::next_due counts them; in which round, above or below.
  std::int32_t asked_ = 0;
  std::int32_t asked_round_ = -1;
  std::uint8_t has_asked_above_ = 0;
  std::uint8_t has_called_ = 0;
  std::uint8_t is_late_ = 0;
  std::uint8_t is_impatient_ = 0;
  std::uint8_t has_to_empty_ = 0;
  std::uint8_t has_to_exclude_ = 0;
  [[maybe_unused]] std::uint16_t padding_ = 0;  // no bytes of chance: states are compared
};

static_assert(Machine<PatientAllreduce>);
static_assert(std::has_unique_object_representations_v<PatientAllreduce>);

}  // namespace resprout::protocols
