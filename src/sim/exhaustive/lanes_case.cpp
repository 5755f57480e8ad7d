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
  if (word == "areas") return LanesDefect::areas;
  return std::nullopt;
}

// With gathers: less of the others.
constexpr int kinds_with_gathers = 6;

LaneOperation gathering_operation_of(int number, int procs) {
  switch (number) {
    case 0:
      return {Kind::gather, 0};
    case 1:
      return {Kind::gather, static_cast<std::uint8_t>(procs - 1)};
    case 2:
      return {Kind::scan};
    case 3:
      return {Kind::broadcast, 0};
    case 4:
      return {Kind::native};
    default:
      return {Kind::meeting};
  }
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
    return "--defect is silence, finality, slots, meetings, stamp, suspicions, lives, names or "
           "areas for lanes";
  return "";
}

Finding explore_lanes(const Case& given, const registry::Spec& spec) {
  LanesScene scene;
  scene.config = {given.procs, static_cast<std::uint32_t>(spec.broadcasts), 2};
  scene.may_be_revoked = spec.may_be_revoked;
  scene.runs_again = spec.lanes.runs_again;
  scene.defect = *lanes_defect_of(given.defect);
  scene.have_met = spec.lanes.gathers == registry::Gathers::met;
  scene.lacks_area = spec.lanes.gathers == registry::Gathers::lacking;
  if (scene.defect == LanesDefect::areas) scene.have_met = scene.lacks_area = true;
  const bool has_gathers = spec.lanes.gathers != registry::Gathers::none;
  const int kinds = has_gathers ? kinds_with_gathers : given.procs + 3;
  std::vector<int> numbers(static_cast<std::size_t>(spec.operations));
  Finding finding;
  do {
    scene.program.clear();
    for (const int number : numbers)
      scene.program.push_back(has_gathers ? gathering_operation_of(number, given.procs)
                                          : operation_of(number, given.procs));
    const LanesWorld start(scene);
    if (!examine(start, given, given.limits, check_lanes, finding)) break;
  } while (maybe_step(numbers, kinds));
  return finding;
}

}  // namespace resprout::sim
