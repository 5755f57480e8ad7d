// See membership_case.hpp.
#include "sim/exhaustive/membership_case.hpp"

#include <optional>

#include "sim/exhaustive/examine.hpp"
#include "sim/membership/world.hpp"

namespace resprout::sim {
namespace {

std::optional<MembershipDefect> membership_defect_of(const std::string& word) {
  if (word.empty()) return MembershipDefect::none;
  if (word == "fence") return MembershipDefect::fence;
  if (word == "proof") return MembershipDefect::proof;
  if (word == "view") return MembershipDefect::view;
  return std::nullopt;
}

template <typename Views>
Finding explore_views(const Case& given, const protocols::MembershipConfig& config,
                      const MembershipScene& scene) {
  const MembershipWorldOf<Views> start(config, scene);
  const auto check = [](std::span<const MembershipOutcome> outcomes) {
    return check_membership(outcomes);
  };
  return examine(start, given, check);
}

}  // namespace

std::string refuse_membership(const Case& given, const registry::Spec& spec) {
  if (given.joiners < 0 || given.joiners >= given.procs)
    return "--joiners is from 0 to less than --procs";
  if (given.returns < 0 || (given.returns > 0 && !spec.has_local_views))
    return "--returns is for views=local";
  if (given.root != 0) return "--root is 0 for a membership: the lowest member";
  if (given.dead > 0) return "--dead is for protocols without a detector; use --crashes";
  if (given.offers) return "--offers is for protocols with payloads";
  if (!given.enters_late) return "--enter-first: the members of a membership are all there";
  // Without fences local views have no tree to go over.
  if (spec.has_local_views && given.defect == "fence")
    return "--defect is proof or view with views=local";
  if (!membership_defect_of(given.defect))
    return "--defect is fence, proof or view for a membership";
  return "";
}

Finding explore_membership(const Case& given, const registry::Spec& spec) {
  const protocols::MembershipConfig config{{spec.k}, 0};
  const MembershipScene scene{.founders = given.procs - given.joiners,
                              .joiners = given.joiners,
                              .joins_low = given.joins_low,
                              .proves = given.proves,
                              .returns = given.returns,
                              .probes = given.probes,
                              .defect = *membership_defect_of(given.defect)};
  return spec.has_local_views ? explore_views<LocalViews<8>>(given, config, scene)
                              : explore_views<WholeViews>(given, config, scene);
}

}  // namespace resprout::sim
