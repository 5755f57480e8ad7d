#include "sim/exact/exact_broadcast.hpp"

#include <algorithm>
#include <utility>

namespace resprout::sim {
namespace {

using protocols::Correction;

// In how many slots a process knows what was sent in this one.
Duration reaction(const LogP& model) {
  return (model.hop() + model.spacing() - 1) / model.spacing();
}

// Corrections to both sides that end by what they heard or by their distance.
bool is_supported(const protocols::CorrectionRules& rules) {
  return (rules.kind == Correction::checked || rules.kind == Correction::opportunistic ||
          rules.kind == Correction::optimized_opportunistic) &&
         rules.sides == protocols::Sides::both && rules.heed == protocols::Heed::both;
}

}  // namespace

bool ExactBroadcast::is_for(const Machinery& machinery) {
  const registry::Spec& spec = machinery.spec;
  return spec.protocol == registry::ProtocolId::corrected_tree &&
         spec.start == protocols::StartMode::synchronized && is_supported(spec.correction) &&
         !machinery.wants_trace && machinery.model.noise == 0 &&
         machinery.model.spacing() < machinery.model.hop() &&
         reaction(machinery.model) <= machinery.procs - 3;
}

std::unique_ptr<ExactBroadcast> ExactBroadcast::make(const Machinery& machinery) {
  if (!is_for(machinery)) return nullptr;
  auto tree = registry::make_tree(machinery.spec, machinery.procs, machinery.model.latency,
                                  machinery.model.overhead, machinery.model.gap);
  auto* owned = std::get_if<registry::OwnedTree>(&tree);
  if (owned == nullptr) return nullptr;
  return std::unique_ptr<ExactBroadcast>(new ExactBroadcast(machinery, std::move(*owned)));
}

// The tree is needed only here.
ExactBroadcast::ExactBroadcast(const Machinery& machinery, registry::OwnedTree tree)
    : model_(machinery.model),
      coloring_(tree.tree, machinery.root, machinery.model),
      correction_(machinery.spec.correction.kind, machinery.spec.correction.distance,
                  static_cast<std::int32_t>(reaction(machinery.model)), machinery.procs) {}

bool ExactBroadcast::supports(std::span<const Death> deaths) {
  return std::all_of(deaths.begin(), deaths.end(),
                     [](const Death& death) { return death.at <= Time{0}; });
}

Result ExactBroadcast::run(std::span<const Death> deaths) {
  coloring_.color(deaths);
  const Time start = coloring_.fault_free_end();
  Result result;
  result.correction_start = start;
  if (!coloring_.has_root()) {  // nothing happens
    result.coloring_latency = Time{0};
    result.g_max = coloring_.procs();
    result.uncolored = coloring_.procs() - coloring_.dead();
    return result;
  }
  const CorrectionOutcome outcome = correction_.run(coloring_);
  const auto received = [&](std::int32_t slot) {
    return start + (slot * model_.spacing() + model_.hop());
  };
  result.coloring_latency =
      outcome.last_colored >= 0 ? received(outcome.last_colored) : coloring_.end();
  result.totals.messages = coloring_.messages() + outcome.messages;
  result.totals.quiescence = start;
  if (outcome.last_served >= 0) result.totals.quiescence = received(outcome.last_served);
  if (outcome.last_lost >= 0)
    result.totals.quiescence =
        std::max(result.totals.quiescence,
                 start + (outcome.last_lost * model_.spacing() + model_.overhead + model_.latency));
  result.uncolored = outcome.uncolored;
  result.g_max = outcome.g_max;
  return result;
}

}  // namespace resprout::sim
