// See lanes_case.hpp.
#include "sim/exhaustive/lanes_case.hpp"

#include <optional>

#include "sim/exhaustive/examine.hpp"
#include "sim/lanes/world.hpp"

namespace resprout::sim {
namespace {

using Kind = LaneOperation::Kind;

std::optional<LanesDefect> lanes_defect_of(const std::string& word) {
  if (word.empty()) return LanesDefect::none;
  if (word == "silence") return LanesDefect::silence;
  if (word == "finality") return LanesDefect::finality;
  if (word == "slots") return LanesDefect::slots;
  if (word == "meetings") return LanesDefect::meetings;
  if (word == "stamp") return LanesDefect::stamp;
  if (word == "suspicions") return LanesDefect::suspicions;
  if (word == "lives") return LanesDefect::lives;
  if (word == "names") return LanesDefect::names;
  return std::nullopt;
}

// Operation `number` of those that there are: the broadcasts, by root, then the others.
LaneOperation operation_of(int number, int procs) {
  if (number < procs) return {Kind::broadcast, static_cast<std::uint8_t>(number)};
  return {number == procs ? Kind::meeting : number == procs + 1 ? Kind::native : Kind::native_meet};
}

// The program behind this one, in the order of numbers; false: there is none.
bool maybe_step(std::vector<int>& numbers, int kinds) {
  for (int& number : numbers) {
    if (++number < kinds) return true;
    number = 0;
  }
  return false;
}

}  // namespace

std::string refuse_lanes(const Case& given, const registry::Spec&) {
  if (given.root != 0) return "--root is 0 for lanes: every member is that of a broadcast";
  if (given.dead > 0) return "--dead is for protocols without a detector; use --crashes";
  if (given.offers) return "--offers is for reliable broadcasts";
  if (!lanes_defect_of(given.defect))
    return "--defect is silence, finality, slots, meetings, stamp, suspicions, lives or names for "
           "lanes";
  return "";
}

Finding explore_lanes(const Case& given, const registry::Spec& spec) {
  LanesScene scene;
  scene.config = {given.procs, static_cast<std::uint32_t>(spec.broadcasts), 2};
  scene.may_be_revoked = spec.may_be_revoked;
  scene.runs_again = spec.runs_again;
  scene.defect = *lanes_defect_of(given.defect);
  std::vector<int> numbers(static_cast<std::size_t>(spec.operations));
  Finding finding;
  do {
    scene.program.clear();
    for (const int number : numbers) scene.program.push_back(operation_of(number, given.procs));
    const LanesWorld start(scene);
    if (!examine(start, given, given.limits, check_lanes, finding)) break;
  } while (maybe_step(numbers, given.procs + 3));
  return finding;
}

}  // namespace resprout::sim
