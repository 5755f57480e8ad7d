// Any of the corrections, chosen at run time by the rules.
//
// Programs that know theirs when they are compiled take that one instead, which is smaller.
//
// Invariant: the bytes are those of the correction that rules.kind names, and zeros behind it.
// Thread rule: a value.
#pragma once

#include <cstring>

#include "protocols/correction/checked.hpp"
#include "protocols/correction/delayed.hpp"
#include "protocols/correction/failure_proof.hpp"
#include "protocols/correction/none.hpp"
#include "protocols/correction/optimized_opportunistic.hpp"

namespace resprout::protocols {

template <typename C>
struct CorrectionType {
  using type = C;
};

// Calls f(CorrectionType<C>{}) with the C of that kind.
template <typename F>
constexpr decltype(auto) visit_correction(Correction kind, F f) {
  switch (kind) {
    case Correction::none:
      break;
    case Correction::opportunistic:
      return f(CorrectionType<Opportunistic>{});
    case Correction::optimized_opportunistic:
      return f(CorrectionType<OptimizedOpportunistic>{});
    case Correction::checked:
      return f(CorrectionType<Checked>{});
    case Correction::failure_proof:
      return f(CorrectionType<FailureProof>{});
    case Correction::delayed:
      return f(CorrectionType<Delayed>{});
  }
  return f(CorrectionType<NoCorrection>{});
}

class AnyCorrection {
 public:
  explicit AnyCorrection(const CorrectionRules& rules) {
    visit_correction(rules.kind, [&]<typename C>(CorrectionType<C>) { put(C(rules)); });
  }

  void join(const RingView& view) {
    change(view.rules, [&](auto& correction) {
      correction.join(view);
      return 0;
    });
  }
  void hear(const RingView& view, Direction going, std::int32_t distance) {
    change(view.rules, [&](auto& correction) {
      correction.hear(view, going, distance);
      return 0;
    });
  }
  std::int32_t next(const RingView& view) {
    return change(view.rules, [&](auto& correction) { return correction.next(view); });
  }
  void handle_timeout(const RingView& view) {
    change(view.rules, [&](auto& correction) {
      correction.handle_timeout(view);
      return 0;
    });
  }
  Deadline deadline(const RingView& view) const {
    return visit_correction(view.rules.kind, [&]<typename C>(CorrectionType<C>) {
      return get<C>(view.rules).deadline(view);
    });
  }

 private:
  template <typename F>
  std::int32_t change(const CorrectionRules& rules, F f) {
    return visit_correction(rules.kind, [&]<typename C>(CorrectionType<C>) {
      C correction = get<C>(rules);
      const std::int32_t answer = f(correction);
      put(correction);
      return answer;
    });
  }

  template <typename C>
  C get(const CorrectionRules& rules) const {
    C correction(rules);
    if constexpr (!std::is_empty_v<C>) std::memcpy(&correction, words_, sizeof correction);
    return correction;
  }
  template <typename C>
  void put(const C& correction) {
    static_assert(sizeof(C) <= sizeof words_);
    static_assert(std::is_empty_v<C> || std::has_unique_object_representations_v<C>);
    if constexpr (!std::is_empty_v<C>) std::memcpy(words_, &correction, sizeof correction);
  }

  std::uint32_t words_[6] = {};
};

static_assert(RingCorrection<AnyCorrection>);
static_assert(std::has_unique_object_representations_v<AnyCorrection>);

}  // namespace resprout::protocols
