// One process's part in the correction: when it begins, and its messages on the ring.
//
// Every broadcast that is corrected has one of these behind its dissemination.
//
// Invariants
//  1. Who does not take part sends nothing, whatever it hears.
//  2. Nothing is sent before the correction's start.
// Thread rule: a value.
#pragma once

#include <optional>

#include "core/message.hpp"
#include "core/rank.hpp"
#include "protocols/correction/rules.hpp"
#include "topology/ring.hpp"

namespace resprout::protocols {

// When everybody may begin: an agreed time, or `whenever`.
inline constexpr Time whenever{INT64_MIN};

template <RingCorrection C>
class Corrector {
 public:
  // REQUIRES: 0 <= self < 2^30.
  Corrector(const CorrectionRules& rules, Rank self)
      : correction_(rules), word_(static_cast<std::uint32_t>(index(self)) << 2) {}

  Rank self() const { return rank_at(static_cast<std::int32_t>(word_ >> 2)); }

  // The process takes part, from `start` on, or from now on if that is later.
  void join(const RingView& view, Time start) {
    if (view.rules.kind == Correction::none) return;
    become(Phase::waiting);
    maybe_begin(view, start);
  }
  void leave() { become(Phase::passive); }

  void hear(const RingView& view, const Message& message) {
    const auto going = static_cast<Direction>(message.tag);
    const std::int32_t here = index(self());
    const std::int32_t there = index(message.from);
    correction_.hear(view, going,
                     going == Direction::right ? topology::ring_distance(there, here, view.procs)
                                               : topology::ring_distance(here, there, view.procs));
  }

  void handle_timeout(const RingView& view, Time start) {
    maybe_begin(view, start);
    if (phase() == Phase::taking_part) correction_.handle_timeout(view);
  }

  // Its next message, with a payload in `slot`.
  std::optional<Message> next(const RingView& view, Slot slot) {
    if (phase() != Phase::taking_part) return std::nullopt;
    const std::int32_t offset = correction_.next(view);
    if (offset == 0) return std::nullopt;
    Message message;
    message.from = self();
    message.to = rank_at(topology::ring_neighbor(index(self()), offset, view.procs));
    message.kind = MessageKind::correction;
    message.slot = slot;
    message.tag = static_cast<std::uint16_t>(offset < 0 ? Direction::left : Direction::right);
    return message;
  }

  Deadline deadline(const RingView& view, Time start) const {
    if (phase() == Phase::passive) return {};
    if (phase() == Phase::waiting) return {start, "start of synchronized correction"};
    return correction_.deadline(view);
  }

 private:
  enum class Phase : std::uint32_t { passive, waiting, taking_part };

  void maybe_begin(const RingView& view, Time start) {
    if (phase() != Phase::waiting || view.now < start) return;
    become(Phase::taking_part);
    correction_.join(view);
  }

  Phase phase() const { return static_cast<Phase>(word_ & 3); }
  void become(Phase phase) {
    word_ = (word_ & ~std::uint32_t{3}) | static_cast<std::uint32_t>(phase);
  }

  C correction_;
  std::uint32_t word_;  // 4 * self + phase, because machines should be small
};

}  // namespace resprout::protocols
