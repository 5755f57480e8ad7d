// One process of the Revoke benchmark: plan A until it is revoked, then plan B.
//
// Plan B (Revoke), section 4.1 and figure 2: each plan is a loop of one collective operation. After
// some operations of plan A the initiators do not match the next one: they revoke its communicator.
// A process that is revoked leaves its operation, and begins plan B on another communicator.
//
// Operations are numbered from 1 through both plans: who has ended n knows that all have begun it.
// So while a process is in n, messages of n and n + 1 come; and, while it is in plan A, those of
// the first of plan B, from others who were revoked before.
//
// Invariants
//  1. Notices are sent before anything else: where a notice is received it is passed on, the
//     program sees the error later.
//  2. Nothing that was left to send in plan A is sent in plan B.
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/revoke/revoker.hpp"
#include "sim/revoke/steps.hpp"

namespace resprout::sim {

struct BenchmarkConfig {
  // The one that initiators do not match; without initiators all do, and the plans are one.
  static constexpr std::uint32_t revoked = 5;
  static constexpr std::uint32_t first_of_b = revoked + 1;

  protocols::RevokeConfig revoke;
  PlanSteps steps;
  std::vector<Rank> initiators;  // ascending
  std::uint32_t last;            // operation; >= revoked
};

class BenchmarkProcess {
 public:
  // REQUIRES: `config` outlives the machine; 0 <= self < procs.
  BenchmarkProcess(const BenchmarkConfig& config, Rank self)
      : config_(&config),
        revoke_(config.revoke, self),
        self_(index(self)),
        is_initiator_(
            std::binary_search(config.initiators.begin(), config.initiators.end(), self)) {}

  void start(const Context& context) { go_on(context); }

  // `revocation`; `tree`: of operation `round`, step `tag`.
  Disposition handle_message(const Context& context, const Message& message) {
    if (message.kind == MessageKind::revocation)
      revoke_.handle_message(context, message);
    else
      note(message);
    go_on(context);
    return Disposition::done;
  }
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context&, Rank) {}

  // `deliver` of each operation that has ended, by `round`; `revoked` of the one that is left.
  std::optional<Event> poll_event(const Context& context) {
    const std::uint32_t now_in = left_ != 0 ? left_ : operation_;
    if (said_ + 1 < now_in) {
      Message subject{.from = rank_at(self_), .to = rank_at(self_)};
      subject.round = ++said_;
      return Event{EventKind::deliver, subject};
    }
    const auto event = revoke_.poll_event(context);
    if (event) {
      left_ = 0;
      said_ = BenchmarkConfig::revoked;
    }
    return event;
  }

  std::optional<Message> poll_send(const Context& context) {
    if (auto notice = revoke_.poll_send(context)) return notice;
    while (sends_in_ < operation_ || (sends_in_ == operation_ && sends_ <= step_)) {
      const std::uint32_t operation = sends_in_;
      const std::int32_t step = sends_++;
      if (step >= config_->steps.count()) {
        ++sends_in_;
        sends_ = 0;
        continue;
      }
      if (operation > config_->last) return std::nullopt;
      const std::int32_t to = config_->steps.of(self_, step).to;
      if (to < 0) continue;
      Message message{.from = rank_at(self_), .to = rank_at(to)};
      message.round = operation;
      message.tag = static_cast<std::uint16_t>(step);
      return message;
    }
    return std::nullopt;
  }
  Deadline poll_timeout(const Context&) const { return {}; }

 private:
  void note(const Message& message) {
    const std::uint32_t bit = 1u << message.tag;
    const bool is_in_a = operation_ < BenchmarkConfig::first_of_b;
    if (message.round == operation_)
      heard_ |= bit;
    else if (message.round == BenchmarkConfig::first_of_b && is_in_a)
      heard_first_of_b_ |= bit;
    else if (message.round == operation_ + 1)
      heard_next_ |= bit;
  }

  void begin(std::uint32_t operation) {
    operation_ = operation;
    step_ = 0;
    heard_ = operation == BenchmarkConfig::first_of_b ? heard_first_of_b_ : heard_next_;
    heard_next_ = 0;
  }

  void become_plan_b() {
    left_ = operation_;
    begin(BenchmarkConfig::first_of_b);
    sends_in_ = operation_;
    sends_ = 0;
  }

  void go_on(const Context& context) {
    if (revoke_.is_revoked() && operation_ < BenchmarkConfig::first_of_b) become_plan_b();
    while (operation_ <= config_->last) {
      if (operation_ == BenchmarkConfig::revoked && is_initiator_) {
        revoke_.revoke(context);
        become_plan_b();
      } else if (step_ == config_->steps.count()) {
        begin(operation_ + 1);
      } else if (config_->steps.of(self_, step_).from < 0 || (heard_ >> step_ & 1) != 0) {
        ++step_;
      } else {
        break;
      }
    }
  }

  const BenchmarkConfig* config_;
  protocols::Revoke revoke_;
  std::int32_t self_;
  std::uint32_t operation_ = 1;
  std::int32_t step_ = 0;
  std::uint32_t heard_ = 0;  // bit i: the message of step i, in this operation,
  std::uint32_t heard_next_ = 0;
  std::uint32_t heard_first_of_b_ = 0;
  std::uint32_t sends_in_ = 1;  // the operation and the step of the next message
  std::int32_t sends_ = 0;
  std::uint32_t said_ = 0;  // the last operation whose end was told
  std::uint32_t left_ = 0;  // the one that was left, as long as that was not told
  bool is_initiator_;
};

static_assert(Machine<BenchmarkProcess>);

}  // namespace resprout::sim
