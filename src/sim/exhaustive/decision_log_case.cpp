// See decision_log_case.hpp.
#include "sim/exhaustive/decision_log_case.hpp"

#include <optional>

#include "sim/decision_log/world.hpp"
#include "sim/exhaustive/examine.hpp"

namespace resprout::sim {
namespace {

std::optional<DecisionLogDefect> decision_log_defect_of(const std::string& word) {
  if (word.empty()) return DecisionLogDefect::none;
  if (word == "settling") return DecisionLogDefect::settling;
  if (word == "inquiry") return DecisionLogDefect::inquiry;
  if (word == "promise") return DecisionLogDefect::promise;
  if (word == "suspicions") return DecisionLogDefect::suspicions;
  return std::nullopt;
}

}  // namespace

std::string refuse_decision_log(const Case& given, const registry::Spec& spec) {
  if (given.procs != spec.degree)
    return "--procs is " + std::to_string(spec.degree) + " for a rank of " +
           std::to_string(spec.degree) + " replicas";
  if (spec.decisions >= static_cast<std::int32_t>(decisions_bound))
    return "--spec: decisions= is below " + std::to_string(decisions_bound) + " here";
  if (given.root != 0) return "--root is 0 for a decision-log: the lowest replica leads";
  if (given.dead > 0) return "--dead is for protocols without a detector; use --crashes";
  if (given.offers) return "--offers is for reliable broadcasts";
  if (!decision_log_defect_of(given.defect))
    return "--defect is settling, inquiry, promise or suspicions for a decision-log";
  return "";
}

Finding explore_decision_log(const Case& given, const registry::Spec& spec) {
  const protocols::DecisionLogConfig config{spec.degree, static_cast<std::uint64_t>(spec.window)};
  const DecisionLogWorld start(config, {.decisions = static_cast<std::uint64_t>(spec.decisions),
                                        .defect = *decision_log_defect_of(given.defect)});
  const auto check = [&](std::span<const DecisionLogOutcome> outcomes) {
    return check_decision_log(outcomes, config.window);
  };
  return examine(start, given, check);
}

}  // namespace resprout::sim
