// See links_case.hpp.
#include "sim/exhaustive/links_case.hpp"

#include <optional>

#include "sim/exhaustive/examine.hpp"
#include "sim/links/world.hpp"

namespace resprout::sim {
namespace {

std::optional<LinksDefect> links_defect_of(const std::string& word) {
  if (word.empty()) return LinksDefect::none;
  if (word == "detector") return LinksDefect::detector;
  if (word == "reading") return LinksDefect::reading;
  if (word == "answers") return LinksDefect::answers;
  if (word == "verdict") return LinksDefect::verdict;
  return std::nullopt;
}

}  // namespace

std::string refuse_links(const Case& given, const registry::Spec&) {
  if (given.root != 0) return "--root is 0 for a link-watch: all wait for all";
  if (given.dead > 0) return "--dead is for protocols without a detector; use --crashes";
  if (given.offers) return "--offers is for reliable broadcasts";
  if (given.limits.mischief.suspects_the_living || given.limits.mischief.loses_messages)
    return "--slander and --loss are not for a link-watch: its spec says what is cut";
  if (!links_defect_of(given.defect))
    return "--defect is detector, reading, answers or verdict for a link-watch";
  return "";
}

Finding explore_links(const Case& given, const registry::Spec& spec) {
  LinksScene scene;
  scene.procs = given.procs;
  scene.ranks_per_host = spec.links.ranks_per_host;
  scene.cuts = spec.links.cuts;
  scene.cut = spec.links.cut;
  scene.late_units = spec.links.late_units;
  scene.defect = *links_defect_of(given.defect);
  LinksWorld start(scene);
  if (!given.enters_late)
    for (int rank = 0; rank < given.procs; ++rank)
      start.apply({ActionKind::enter, static_cast<std::uint8_t>(rank)});
  const auto check = [&](std::span<const LinksOutcome> outcomes) {
    return check_links(outcomes, scene.cuts);
  };
  return examine(start, given, check);
}

}  // namespace resprout::sim
